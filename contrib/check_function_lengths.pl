#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#
# Checks that no function of host code is longer than 100 lines.
#
#   contrib/check_function_lengths.pl [--list N] [FOLDER]
#
# FOLDER: the project, by default the one of this script. Reads all C++ and CUDA
# sources of include/, source/, cuda/ and applications/. The length of a function is
# the number of lines from its opening brace to its closing brace, both included;
# bodies of kernels and of device-only functions (__global__, __device__ without
# __host__) do not count. A function inside a function (a lambda, a member of a local
# class) is part of the outer one.
#
# doc/architecture.md has a table of exceptions whose rows begin with
# "| `FILE` | `FUNCTION` |", at most ten of them. Prints, and fails for,
#   - every longer function without a row,
#   - every row without such a function,
#   - more than ten rows.
# With --list N, prints instead all functions longer than N lines, the longest first.

use strict;
use warnings;
use File::Basename qw(dirname);
use File::Find;
use File::Spec;

my $limit      = 100;
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

# Calls $report->(name, length, is_device) for each function of a file.
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
          push @stack, [$kind, $name, $line, $device, $begin];
          ++$inside if $kind ne 'scope';
          $begin = $position;
        }
      elsif ($c eq '}')
        {
          my $top = pop @stack or next;
          my ($kind, $name, $first, $device, $head) = @$top;
          --$inside if $kind ne 'scope';
          $report->($name, $line - $first + 1, $device)
            if $kind eq 'function' and !$inside;
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

my ($number, @long) = (0);
for my $file (@files)
  {
    functions_of($file, sub {
      my ($name, $length, $device) = @_;
      ++$number;
      push @long, [$length, $file, $name]
        if !$device and $length > ($list // $limit);
    });
  }
die "check_function_lengths.pl: there are no functions in $root.\n" unless $number;
@long = sort { $b->[0] <=> $a->[0] or $a->[1] cmp $b->[1] } @long;

if (defined $list)
  {
    printf "%5d %s %s\n", @$_ for @long;
    exit 0;
  }

my (%row, $rows);
open(my $document, '<', 'doc/architecture.md')
  or die "check_function_lengths.pl: there is no doc/architecture.md in $root.\n";
while (<$document>)
  {
    next unless /^\|\s*`([^`|]+\.(?:h|cc|cu))`\s*\|\s*`([^`]+)`\s*\|/;
    $row{"$1 $2"} = 1;
    ++$rows;
  }

my $problems = 0;
for (@long)
  {
    my ($length, $file, $name) = @$_;
    next if delete $row{"$file $name"};
    print "$file: $name() has $length lines, at most $limit are allowed.\n";
    ++$problems;
  }
for (sort keys %row)
  {
    print "doc/architecture.md: no function is longer than $limit lines: $_.\n";
    ++$problems;
  }
if (($rows // 0) > $exceptions)
  {
    print "doc/architecture.md: $rows exceptions, at most $exceptions are allowed.\n";
    ++$problems;
  }
printf "%d functions in %d files, %d problems.\n", $number, scalar @files, $problems;
exit($problems ? 1 : 0);
