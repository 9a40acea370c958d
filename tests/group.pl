#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#
# Writes one source file that contains several tests.
#
#   group.pl OUTPUT TEST.cc...
#
# The includes of all tests come first, each once, with the conditions (#if and so
# on) around them. Then comes each test in a namespace of its own, together with the
# headers of tests/ that it includes, so that names of different tests cannot clash.
# Headers that declare what a file file.cu beside file.h defines, and headers that
# those include, remain includes.
# #line lets messages of the compiler and of assertions name the file of the test.
# A function run_test() calls the main() of the test that argv[0] names, without
# folder and without what follows the first full stop or precedes "cuda_". main()
# gets the "return 0" that other functions need.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(basename dirname);

my ($output, @tests) = @ARGV;
die "group.pl: usage: group.pl OUTPUT TEST.cc...\n" unless @tests;

my $root = dirname(abs_path($0));
my (@includes, %seen, $bodies, $calls);

# Headers that are shared with files compiled by nvcc.
my %shared;
sub share {
  my ($header) = @_;
  return if !-e $header || $shared{$header}++;
  open(my $in, '<', $header) or die "group.pl: $header: $!\n";
  while (<$in>) {
    share(abs_path(dirname($header) . "/$1")) if /^#\s*include\s*"([^"]*)"/;
  }
}
foreach my $folder (keys %{{map { dirname(abs_path($_)) => 1 } @tests}}) {
  share(s/cu$/h/r) foreach glob("$folder/*.cu");
}

# Returns the text of a file of tests/ with the headers of tests/ that it includes,
# each of which is in %$inlined afterwards, and puts other includes, within
# @conditions, into @includes.
sub text {
  my ($path, $inlined, @conditions) = @_;
  my $text = "#line 1 \"$path\"\n";
  open(my $in, '<', $path) or die "group.pl: $path: $!\n";
  my @lines = <$in>;
  close $in;
  chomp @lines;
  # the guard of a header
  if (@lines > 2 && join("\n", @lines) =~ /^#ifndef (\w+)\n#define \1$/m) {
    my $guard = $1;
    foreach (@lines) { $_ = '' if /^#(?:ifndef|define) $guard$/; }
    foreach (reverse @lines) {
      if (/^#endif/) { $_ = ''; last; }
    }
  }
  for my $i (0 .. $#lines) {
    my $line = $lines[$i];
    if ($line =~ /^#\s*if/) {
      # a condition, with its #elif and #else
      push @conditions, [$line];
    } elsif ($line =~ /^#\s*el/) {
      push @{$conditions[-1]}, $line;
    } elsif ($line =~ /^#\s*endif/) {
      pop @conditions;
    } elsif ($line =~ /^#\s*include\s*(?:<([^>]*)>|"([^"]*)")/) {
      my $file = "<$1>" if defined $1;
      if (defined $2) {
        my $included = abs_path(dirname($path) . "/$2");
        die "group.pl: $path includes \"$2\", which does not exist.\n"
          unless defined $included && -e $included;
        if ($included =~ m{^\Q$root\E/} && !$shared{$included}) {
          $text .= text($included, $inlined, @conditions)
            unless $inlined->{$included}++;
          $text .= '#line ' . ($i + 2) . " \"$path\"\n";
          next;
        }
        $file = "\"$included\"";
      }
      my $include = join('', map { "$_\n" } (map { @$_ } @conditions),
        "#include $file", ('#endif') x @conditions);
      push @includes, $include unless $seen{$include}++;
      $line = '';
    }
    $text .= "$line\n";
  }
  return $text;
}

foreach my $test (@tests) {
  my $name = basename($test, '.cc');
  my $body = text(abs_path($test), {});
  $body =~ s/^((?:int )?main\(.*?\n)\}$/$1return 0; }/ms
    or die "group.pl: $test has no function main() that begins a line.\n";
  my $arguments = $body =~ /^(?:int )?main\(\s*\)/m ? '' : 'argc, argv';
  $bodies .= "\nnamespace test_$name\n{\n$body}\n";
  $calls .= "  if (name == \"$name\")\n    return test_$name\::main($arguments);\n";
}

my $text = join('', "// Written by tests/group.pl.\n", @includes, $bodies,
  <<"END");

#line 1 "$output"
#include <iostream>
#include <string>
int
run_test(int argc, char **argv)
{
  std::string name(argv[0]);
  name = name.substr(name.find_last_of('/') + 1);
  name = name.substr(0, name.find('.'));
  if (name.compare(0, 5, "cuda_") == 0)
    name = name.substr(5);
$calls  std::cerr << "There is no test " << name << " in this group." << std::endl;
  return 1;
}
END
# A file that is the same is left alone, so that it is not compiled again.
if (open(my $in, '<', $output)) {
  local $/;
  exit 0 if <$in> eq $text;
}
open(my $out, '>', $output) or die "group.pl: $output: $!\n";
print $out $text;
close $out or die "group.pl: $output: $!\n";
