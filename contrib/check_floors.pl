#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#
# Checks that includes point one way.
#
#   contrib/check_floors.pl [FOLDER]
#
# FOLDER: the project, by default the one of this script. Its doc/architecture.md
# has a table whose rows begin with "| FLOOR | FOLDERS |": floors have numbers,
# the lowest comes first, and folders are written in back quotes. A file may include
# files of its own floor and of lower ones. Prints, and fails for,
#   - every include of a file that lies on a higher floor,
#   - every circle of folders on one floor, and every circle of headers,
#   - sources that lie in no folder of the table, folders that do not exist.
# The exit status is 0 if there is nothing to print but the last line, which has
# the numbers of files and of includes.

use strict;
use warnings;
use File::Basename qw(dirname);
use File::Find;
use File::Spec;

my $root = $ARGV[0] // dirname(dirname(File::Spec->rel2abs($0)));
chdir $root or die "check_floors.pl: there is no folder $root.\n";

my $problems = 0;

sub problem
{
  print "$_[0]\n";
  ++$problems;
}

# ---- the table
my (%floor, @folders);
open(my $document, '<', 'doc/architecture.md')
  or die "check_floors.pl: there is no doc/architecture.md in $root.\n";
while (<$document>)
  {
    next unless /^\|\s*(\d+)\s*\|([^|]*)\|/;
    my ($number, $names) = ($1, $2);
    for my $folder ($names =~ /`([^`]+)`/g)
      {
        problem("doc/architecture.md: there is no folder $folder.")
          unless -d $folder;
        problem("doc/architecture.md: $folder has two floors.")
          if exists $floor{$folder};
        $floor{$folder} = $number;
        push @folders, $folder;
      }
  }
die "check_floors.pl: doc/architecture.md has no table of floors.\n"
  unless @folders;

# The longest folder of the table that contains a file.
sub folder_of
{
  my $folder = dirname($_[0]);
  $folder = dirname($folder)
    while !exists $floor{$folder} && $folder =~ m{/};
  return exists $floor{$folder} ? $folder : undef;
}

# Public and private files of one name are one folder: include/tessella/lac,
# source/lac and cuda/lac are "lac".
sub room_of
{
  (my $room = $_[0]) =~ s{^(include/tessella|source|cuda)/}{};
  return $room;
}

# ---- files and what they include
my %files;
find({no_chdir => 1,
      wanted   => sub {
        $files{$_} = 1 if -f && /\.(h|cc|cu|in)$/;
      }},
     grep { -d } ('include/tessella', 'source', 'cuda', 'applications'));

# Configured headers are written to the build folder.
my %name_of = map { (my $name = $_) =~ s/\.in$//; ($name => $_) } keys %files;

my $n_includes = 0;
my (%header_graph, %room_graph);
for my $file (sort keys %files)
  {
    my $folder = folder_of($file);
    if (!defined $folder)
      {
        problem("$file lies in no folder of doc/architecture.md.");
        next;
      }
    open(my $input, '<', $file) or die "$file: $!\n";
    while (<$input>)
      {
        next unless /^\s*#\s*include\s*([<"])([^>"]+)[>"]/;
        my ($quote, $name) = ($1, $2);
        my $target;
        if ($quote eq '<')
          {
            $target = $name_of{"include/$name"};
          }
        else
          {
            my $path = dirname($file) . "/$name";
            1 while $path =~ s{[^/]+/\.\./}{};
            $target = $name_of{$path};
            problem("$file:$.: there is no $path.") unless defined $target;
          }
        next unless defined $target;
        ++$n_includes;
        my $other = folder_of($target);
        next unless defined $other;
        problem("$file:$.: floor $floor{$folder} (" . room_of($folder) .
                ") includes $target of floor $floor{$other} (" .
                room_of($other) . ").")
          if $floor{$other} > $floor{$folder};
        my ($room, $other_room) = (room_of($folder), room_of($other));
        $room_graph{$room}{$other_room} = "$file:$."
          if $room ne $other_room && $floor{$other} == $floor{$folder};
        $header_graph{$file}{$target} = "$file:$." if $target ne $file;
      }
  }

# ---- circles: depth-first search, each circle that is found is printed once
sub report_circles
{
  my ($what, $graph) = @_;
  my (%state, @path);
  my $visit;
  $visit = sub {
    my ($node) = @_;
    $state{$node} = 1;
    push @path, $node;
    for my $next (sort keys %{$graph->{$node} // {}})
      {
        if (($state{$next} // 0) == 1)
          {
            my $first = 0;
            ++$first while $path[$first] ne $next;
            my @circle = (@path[$first .. $#path], $next);
            problem("Circle of $what: " . join(' -> ', @circle) . " (" .
                    join(', ',
                         map { $graph->{$circle[$_]}{$circle[$_ + 1]} }
                           0 .. $#circle - 1) .
                    ").");
          }
        elsif (!$state{$next})
          {
            $visit->($next);
          }
      }
    pop @path;
    $state{$node} = 2;
  };
  for my $node (sort keys %$graph)
    {
      $visit->($node) unless $state{$node};
    }
}
report_circles('folders', \%room_graph);
report_circles('headers', \%header_graph);

printf "%d files, %d includes, %d problems\n", scalar(keys %files), $n_includes,
  $problems;
exit($problems ? 1 : 0);
