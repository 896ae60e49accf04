// The data of a report as view.py builds it, and the types that several scripts share.

export interface Index {
  submissions: Submission[];
  pairs: Pair[];
  clusters: Cluster[];
  graph: Graph;
  common: Passage[];
  /** Files that most submissions have, and the numbers of those that have nothing else. */
  commonFiles: { name: string; owners: number; only: number[] }[];
  /** What is skipped for the same reason: the first names, and how many there are. */
  skipped: Listed[];
  /** What to know about files that were compared. */
  notes: Listed[];
  /** How many pairs fall into each equal range of scores, from 0 to 1. */
  background: number[];
  /** How many submissions contain something that was not compared. */
  ignored: number;
  receipt: Receipt;
  verdicts: Record<string, Verdict>;
  /** The records of each language table, for the syntax colours. */
  languages: Record<string, string[][]>;
  words: Record<Term, string>;
  /** By the number of a submission, when it was handed in: as text, and in seconds since 1970. */
  dates?: Record<number, [text: string, seconds: number]>;
  /** The scripts in the folder "data", named after their first chunk; null if the chunks are inside the page. */
  files: string[] | null;
}

export type Term = "score" | "coverage" | "surprise";

export interface Submission {
  name: string;
  old: boolean;
  /** It has nothing to compare: all of it is skipped, empty, or too short. */
  isEmpty: boolean;
  files: SourceFile[];
  /** The share of it that is in matches; only for submissions in a listed pair. */
  covered?: number | null;
}

export interface SourceFile {
  name: string;
  format: string;
  language: string;
  bytes: number;
  isText: boolean;
  sha256: string;
}

/** Files of which the same is to be said: the first names, and how many there are. */
export interface Listed {
  names: string[];
  count: number;
  detail: string;
}

export interface Pair {
  /** The number of a submission. */
  left: number;
  right: number;
  score: number;
  coverage: [left: number, right: number];
  surprise: number | null;
  longest: number;
  matches: number;
  /** Symbols in matches, on the side where these are fewer. */
  symbols: number;
  /** Fingerprints that both have; null if they were not counted. */
  fingerprints: number | null;
  key: string;
}

export interface Cluster {
  members: number[];
  score: number;
}

export interface Graph {
  width: number;
  height: number;
  nodes: [submission: number, x: number, y: number][];
}

export interface Passage {
  file: string;
  lines: [first: number, last: number] | null;
  symbols: number;
  owners: number;
  text: string;
}

export interface Receipt {
  [key: string]: unknown;
  background?: string;
  sort?: string;
  base?: Record<string, unknown>;
  base_symbols?: Record<string, number>;
  max_owners?: number | null;
  symbols_with_more_owners?: Record<string, number>;
}

export interface Verdict {
  verdict: string;
  note: string;
}

/** A file of a submission, in the chunk of that submission. */
export interface DocumentText {
  text: string;
  /** At which line, counted from 1, each page or cell begins. */
  parts: [line: number, label: string][];
  /** Start and end of everything that was not compared. */
  ignored: [start: number, end: number][];
}

/** A match in the chunk of a pair. Runs are start, end, start, end; steps are differences, left and right in turn. */
export type MatchRow = [
  leftFile: number,
  leftStart: number,
  leftEnd: number,
  rightFile: number,
  rightStart: number,
  rightEnd: number,
  symbols: number,
  longest: number,
  owners: number,
  runCount: number,
  leftRuns: number[],
  rightRuns: number[],
  steps: number[],
  isRepeat: 0 | 1,
];

/** 0 is the left side, 1 the right. */
export type Side = 0 | 1;
export type Range = [start: number, end: number];

/** A match as the panes use it. Positions are UTF-16 units of a file's text. */
export interface Match {
  /** In the order of the left side, counted from 1. */
  number: number;
  file: [left: number, right: number];
  start: [left: number, right: number];
  end: [left: number, right: number];
  runs: [left: Range[], right: Range[]];
  /** Positions that are aligned with each other on the two sides. */
  steps: [left: number[], right: number[]];
  symbols: number;
  runCount: number;
  longest: number;
  owners: number;
  isRepeat: boolean;
}

/** A piece of a file that is part of a match. */
export interface Mark {
  start: number;
  end: number;
  match: Match;
  isRun: boolean;
}

/** A column of the table of pairs; the rows show the numbers of those with `show`. */
export type Column = { title: string; kind: string; term?: Term } & (
  | { value: (pair: Pair, n: number) => string | number; show?: undefined }
  | { value: (pair: Pair) => number | null; show: (value: number | null) => string }
);

/** A cluster on the timeline. */
export interface DatedCluster {
  members: number[];
  number: number;
  dated: number[];
}

/** A submission on the timeline. */
export interface Dot {
  n: number;
  x: number;
  lane: number;
  name: string;
  isBefore: boolean;
}

export type FindEnding = (text: string, position: number) => { inner: number; close: string } | null;

/** What opens a comment or a string. */
export interface Opening {
  type: number;
  open: string;
  close?: string;
  escape?: string;
  nests?: boolean;
  /** A doubled closing mark does not close. */
  doubles?: boolean;
  /** It must be the first thing in its line. */
  isFirst?: boolean;
  isCharacter?: boolean;
  spansLines?: boolean;
  findEnding?: FindEnding;
}

export interface Syntax {
  /** By their first character, longest first. */
  openings: Map<string, Opening[]>;
  keywords: Set<string>;
  ignoresCase: boolean;
  /** Characters in the first column that make the line a comment. */
  columnComments: string;
  name: RegExp;
}

/** What you can switch while you look at a pair. */
export interface PaneOptions {
  isFolded: boolean;
  wraps: boolean;
  select: (number: number, side: Side, position: number) => void;
}

/** Lines of a file that are drawn together, from line `from` up to line `to`. */
export interface Block extends HTMLElement {
  from: number;
  to: number;
  isStale: boolean;
}

export type Child = Node | string | null | undefined;
export type Children = (Child | Child[])[];

export type MakeHtml = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties?: Properties,
  ...children: Children
) => HTMLElementTagNameMap[Tag];

export type MakeSvg = <Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  properties?: Properties,
  ...children: Children
) => SVGElementTagNameMap[Tag];

type Attribute = string | number | boolean | null | undefined;
type AttributeName =
  | ("checked" | "class" | "colspan" | "download" | "href" | "id" | "name" | "placeholder" | "role" | "scope")
  | ("selected" | "src" | "tabindex" | "title" | "type" | "value")
  | (
      | "cx"
      | "cy"
      | "height"
      | "r"
      | "rx"
      | "text-anchor"
      | "viewBox"
      | "width"
      | "x"
      | "x1"
      | "x2"
      | "y"
      | "y1"
      | "y2"
    );

/** Attributes of an element, and listeners as "on" and the name of an event. */
export type Properties = { [Name in AttributeName]?: Attribute } & {
  [name: `aria-${string}` | `data-${string}`]: Attribute;
} & { [Name in keyof HTMLElementEventMap as `on${Name}`]?: (event: HTMLElementEventMap[Name]) => void };

declare global {
  interface Window {
    chaffinchChunk: (key: string, value: unknown) => void;
  }
}
