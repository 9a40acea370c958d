#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#
# Checks that no function of host code is longer than 100 lines, and no class or struct
# of kernels longer than 600.
#
#   contrib/check_function_lengths.pl [--list N] [FOLDER]
#
# FOLDER: the project, by default the one of this script. Reads all C++ and CUDA
# sources of include/, source/, cuda/ and applications/. The length of a function is
# the number of lines from its opening brace to its closing brace, both included;
# bodies of kernels and of device-only functions (__global__, __device__ without
# __host__) do not count. A function inside a function (a lambda, a member of a local
# class) is part of the outer one. The length of a class counts in the same way; it
# is one of kernels if it has device code, and should hold one algorithm then.
#
# doc/architecture.md has a table of exceptions for functions, whose rows begin with
# "| `FILE` | `FUNCTION` |", and one for classes, with "| `FILE` | `struct NAME` |" for
# classes and structs alike. Each has at most ten rows, and a reason in every row. Prints,
# and fails for,
#   - every longer function or class without a row,
#   - every row without such a function or class, or without a reason,
#   - more than ten rows of one table.
# With --list N, prints instead all functions and classes longer than N lines, the longest
# first.

use strict;
use warnings;
use File::Basename qw(dirname);
use File::Find;
use File::Spec;

my %limit      = (function => 100, struct => 600);
my $exceptions = 10;
my $list;
if (@ARGV > 1 and $ARGV[0] eq '--list')
  {
    shift;
    $list = shift;
  }
my $root = $ARGV[0] // dirname(dirname(File::Spec->rel2abs($0)));
chdir $root or die "check_function_lengths.pl: there is no folder $root.\n";

# Replaces comments, strings, character literals and preprocessor lines by blanks,
# so that the remaining braces are those of the program.
sub code_of
{
  my ($text) = @_;
  my $blank = sub { my $t = shift; $t =~ s/[^\n]/ /g; $t };
  $text =~ s{
      (//(?:[^\n\\]|\\.)*                                # comment to the end of the line
      |/\*.*?\*/                                         # comment
      |R"([^(\s]*)\(.*?\)\2"                             # raw string
      |"(?:[^"\\\n]|\\.)*"                               # string
      |(?<![0-9A-Za-z_])'(?:[^'\\\n]|\\.)*'              # character
      |^[ \t]*\#(?:[^\n\\]|\\.)*)                        # directive, may go on
    }{$blank->($1)}gemsx;
  return $text;
}

# The name of the function whose declaration is @_; empty if it is something else.
sub function_of
{
  my ($head) = @_;
  $head =~ s/\b(?:public|protected|private)\s*://g;
  $head =~ s/\bTESSELLA_[A-Z_]*DIAGNOSTICS\b//g;
  # Brackets of templates can hold commas and parentheses; only the part in front
  # of the first parenthesis outside them has the name.
  1 while $head =~ s/^\s*template\s*(<(?:[^<>]|(?1))*>)//s;
  return '' unless $head =~ /^(.*?)\(/s;
  my $front = $1;
  return '' if $front =~ /=/ and $front !~ /operator/;
  $front .= '()' if $front =~ /operator\s*$/;
  return $front =~ /((?:~?\w+(?:\s*<[^()]*?>)?\s*::\s*)*(?:operator\s*[^\s\w]+|operator\s+\w+|~?\w+))\s*$/s
    ? $1 =~ s/\s+//gr
    : '';
}

# The name of the class or struct that @_ declares; empty if it is something else.
sub class_of
{
  my ($head) = @_;
  $head =~ s/\b(?:public|protected|private)\s*:(?!:)//g;
  $head =~ s/\b(?:alignas|__align__|__launch_bounds__)\s*(\((?:[^()]|(?1))*\))//g;
  $head =~ s/\b__attribute__\s*(\((?:[^()]|(?1))*\))//g;
  1 while $head =~ s/^\s*template\s*(<(?:[^<>()]|(\((?:[^()]|(?2))*\))|(?1))*>)//s;
  return $head =~ /^\s*(?:class|struct|union)\s+((?:\w+\s*(?:<[^()]*?>)?\s*::\s*)*\w+)/
           && $head !~ /[()]/ ? $1 =~ s/\s+//gr : '';
}

# Calls $report->(kind, name, length, is_device) for each function and class of a file;
# kind: function or struct.
sub functions_of
{
  my ($file, $report) = @_;
  open(my $in, '<', $file) or die "check_function_lengths.pl: cannot read $file.\n";
  local $/;
  my $text = code_of(<$in>);
  my @stack;    # [kind, name, line, device]
  my $inside = 0;
  my $begin  = 0;
  my $line   = 1;
  while ($text =~ /([{};\n])/g)
    {
      my $c = $1;
      if ($c eq "\n") { ++$line; next; }
      my $position = pos $text;
      if ($c eq '{')
        {
          my $head = substr($text, $begin, $position - 1 - $begin);
          my ($kind, $name) = ('block', '');
          if (!$inside)
            {
              if ($head =~ /\bnamespace\b|\bextern\b\s*$/)
                { $kind = 'scope'; }
              elsif ($name = class_of($head))
                { $kind = 'struct'; }
              elsif ($name = function_of($head))
                {
                  # A braced initialiser of a constructor is not its body.
                  $kind = $head =~ /\)\s*(?:\w+\s*)*:[^:]/s && $head =~ /[\w>]\s*$/
                            && $head !~ /\b(?:const|noexcept|override|final)\s*$/
                          ? 'block' : 'function';
                }
              elsif ($head =~ /\b(?:class|struct|union)\b/)
                { $kind = 'scope'; }
            }
          my $device = $head =~ /\b__global__\b/
                       || ($head =~ /\b__device__\b/ && $head !~ /\b__host__\b/);
          push @stack, [$kind, $name, $line, $device, $begin, $position];
          ++$inside if $kind ne 'scope' and $kind ne 'struct';
          $begin = $position;
        }
      elsif ($c eq '}')
        {
          my $top = pop @stack or next;
          my ($kind, $name, $first, $device, $head, $body) = @$top;
          --$inside if $kind ne 'scope' and $kind ne 'struct';
          # Classes without device code are not kernels.
          $report->($kind, $name, $line - $first + 1, $device)
            if !$inside
            and ($kind eq 'function'
                 or ($kind eq 'struct'
                     and substr($text, $body, $position - $body)
                       =~ /\b(?:__device__|__global__|TESSELLA_HOST_DEVICE)\b/));
          # The head of a constructor goes on behind a braced initialiser.
          $begin = $kind eq 'block' && !$inside ? $head : $position;
        }
      elsif (!$inside)
        { $begin = $position; }
    }
  die "check_function_lengths.pl: braces of $file do not match.\n" if @stack;
}

my @files;
find({ no_chdir => 1,
       wanted   => sub { push @files, $_ if /\.(?:h|cc|cu)$/; } },
     grep { -d } qw(include source cuda applications));
@files = sort @files;

my (%number, @long);
for my $file (@files)
  {
    functions_of($file, sub {
      my ($kind, $name, $length, $device) = @_;
      ++$number{$kind};
      push @long, [$length, $file, $kind eq 'struct' ? "struct $name" : $name, $kind]
        if !$device and $length > ($list // $limit{$kind});
    });
  }
die "check_function_lengths.pl: there are no functions in $root.\n"
  unless $number{function};
@long = sort { $b->[0] <=> $a->[0] or $a->[1] cmp $b->[1] } @long;

if (defined $list)
  {
    printf "%5d %s %s\n", @$_[0 .. 2] for @long;
    exit 0;
  }

my $problems = 0;
my (%row, %rows);
open(my $document, '<', 'doc/architecture.md')
  or die "check_function_lengths.pl: there is no doc/architecture.md in $root.\n";
while (<$document>)
  {
    next unless /^\|\s*`([^`|]+\.(?:h|cc|cu))`\s*\|\s*`([^`]+)`\s*\|([^|]*)/;
    my ($entry, $reason) = ("$1 $2", $3);
    my $kind = $entry =~ / struct / ? 'struct' : 'function';
    $row{$entry} = $kind;
    ++$rows{$kind};
    next if $reason =~ /\w/;
    print "doc/architecture.md: an exception has no reason: $entry.\n";
    ++$problems;
  }

for (@long)
  {
    my ($length, $file, $name, $kind) = @$_;
    next if delete $row{"$file $name"};
    my $what = $kind eq 'function' ? "$name()" : $name;
    print "$file: $what has $length lines, at most $limit{$kind} are allowed.\n";
    ++$problems;
  }
for (sort keys %row)
  {
    print "doc/architecture.md: no $row{$_} is longer than $limit{$row{$_}} lines: $_.\n";
    ++$problems;
  }
for (sort keys %rows)
  {
    next unless $rows{$_} > $exceptions;
    print "doc/architecture.md: $rows{$_} exceptions of the kind $_, at most $exceptions "
      . "are allowed.\n";
    ++$problems;
  }
printf "%d functions and %d classes of kernels in %d files, %d problems.\n", $number{function},
  $number{struct} // 0, scalar @files, $problems;
exit($problems ? 1 : 0);
