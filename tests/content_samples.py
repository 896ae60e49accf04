"""Small programs in many languages, and texts that are none."""

from __future__ import annotations

import json

from tests import made

PROGRAMS = {
    "c": """
/* Sums numbers.
   It was written for the second week. */
#include <stdio.h>

int main(void)
{
    int i, sum = 0;
    for (i = 0; i < 10; i++)
        sum += i;
    printf("%d\\n", sum);
    return 0;
}
""",
    "cc": """
#include <iostream>
#include <vector>
using namespace std;

class Stack {
public:
    void push(int x) { items.push_back(x); }
private:
    vector<int> items;
};

int main() {
    Stack s;
    s.push(3);
    cout << "done" << endl;
}
""",
    "java": """
import java.util.Scanner;

public class Main {
    private static int total = 0;

    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        while (in.hasNextInt())
            total += in.nextInt();
        System.out.println(total);
    }
}
""",
    "csharp": """
using System;
namespace Homework
{
    class Program
    {
        static void Main(string[] args)
        {
            string line = Console.ReadLine();
            Console.WriteLine(line.Length);
        }
    }
}
""",
    "python": '''
"""Counts words. The text comes from a file."""
import sys

def count(path):
    words = {}
    for line in open(path):
        for word in line.split():
            words[word] = words.get(word, 0) + 1
    return words

if __name__ == "__main__":
    print(count(sys.argv[1]))
''',
    "javascript": """
const fs = require("fs");

function count(text) {
  let words = {};
  text.split(" ").forEach((word) => {
    words[word] = (words[word] || 0) + 1;
  });
  return words;
}

console.log(count(fs.readFileSync("a.txt", "utf8")));
""",
    "go": """
package main

import "fmt"

func main() {
	sum := 0
	for i := 0; i < 10; i++ {
		sum += i
	}
	fmt.Println(sum)
}
""",
    "rust": """
use std::io;

fn main() {
    let mut line = String::new();
    io::stdin().read_line(&mut line).unwrap();
    let n: usize = line.trim().parse().unwrap();
    println!("{}", n * 2);
}
""",
    "php": """<?php
$names = array("ann", "ben");
foreach ($names as $name) {
    echo "Hello, $name\\n";
}
""",
    "pascal": """
program Sum;
uses crt;
var
  i, total: integer;
begin
  total := 0;
  for i := 1 to 10 do
    total := total + i;
  writeln(total);
end.
""",
    "haskell": """
module Main where

import Data.List (sort)

double :: Int -> Int
double x = x * 2

main :: IO ()
main = do
  line <- getLine
  print (double (read line))
""",
    "sql": """
CREATE TABLE student (
  id INT PRIMARY KEY,
  name VARCHAR(40) NOT NULL
);
INSERT INTO student VALUES (1, 'Ann');
SELECT name, COUNT(*)
FROM student
WHERE id > 0
GROUP BY name;
""",
    "ruby": """
require 'set'

class Counter
  attr_reader :total

  def initialize(start)
    @total = start
  end

  def add(n)
    @total += n
  end
end

counter = Counter.new(0)
[1, 2, 3].each do |n|
  counter.add(n)
end
puts counter.total
""",
    "bash": """
for file in *.txt; do
  if [ -f "$file" ]; then
    echo "$file"
    lines=$(wc -l < "$file")
    echo "$lines"
  fi
done
""",
    "perl": """
use strict;
use warnings;

my %count;
while (my $line = <STDIN>) {
    foreach my $word (split ' ', $line) {
        $count{$word}++;
    }
}
print "$_ $count{$_}\\n" for sort keys %count;
""",
    "scheme": """
(define (square x) (* x x))
(define (sum items)
  (cond ((null? items) 0)
        (else (+ (car items) (sum (cdr items))))))
(display (sum (list 1 2 3)))
""",
}

NOT_PROGRAMS = {
    "prose": "\n\n".join(made.prose(30)),
    "wrapped prose": made.txt(made.prose(30)).decode(),
    "Markdown": "# Sorting\n\n```c\n#include <stdio.h>\nint main(void) { return 0; }\n```\n\nThat is all.\n",
    "a tutorial": 'To print something, write this line:\n\n    printf("hello");\n\nThen include <stdio.h>, '
    "because printf() is declared there; main() returns an int.\nIt is called first (see below).\n",
    "mail": "Hello Ann,\n\nimport the module, then call print(x);\nif that fails: write.\n\nFor now,\nBen\n",
    "a table": "name,points,grade\n" + "".join(f"student{n},{n * 3},{n % 5}\n" for n in range(40)),
    "JSON": json.dumps([{"name": f"n{n}", "values": [n, n + 1]} for n in range(30)], indent=2),
    "numbers": "\n".join(f"{n} {n * n} {n % 7}" for n in range(100)),
    "a Makefile": "CC = gcc\nOBJ = main.o list.o\n\nall: main\n\nmain: $(OBJ)\n\t$(CC) -o main $(OBJ)\n\n"
    "clean:\n\trm -f main *.o\n\tfor f in *.c; do echo $$f; done\n",
    "settings": "[server]\nhost = example.org\nport = 8080\n# a comment\n[client]\nname = (none)\n",
    "a patch": "--- a/x.c\n+++ b/x.c\n@@ -1,3 +1,3 @@\n #include <stdio.h>\n-int x;\n+int y;\n",
    "a session": ">>> import sys\n>>> print(sys.path)\n['']\n>>> def f(x):\n...     return x\n",
    "Russian": "Это обычный текст; он не является программой (совсем).\n" * 30,
    "Chinese": "这只是一段普通的文字，没有任何程序。\n" * 30,
    "nothing": "",
    "one line": "int main() { return 0; }",
    "errors": "".join(f"main.c:{n}:5: error: expected ';' before 'return'\n" for n in range(30)),
}
