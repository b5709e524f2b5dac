interface Fence {
  readonly mark: string;
  /** Whether its first line opened the block, so that its last line ends it. */
  readonly isOuter: boolean;
}

/**
 * A text in Markdown cut into pieces that can be read one by one. All but the last are final: whoever appends has only
 * the last one to read anew.
 */
export interface Blocks {
  readonly done: readonly string[];
  /** What may still grow. */
  readonly open: string;
  /** Whether `open` is code until its fence is closed. */
  readonly isCode: boolean;
  /** Where links that are named `[text][name]` lead, for all of the pieces. */
  readonly definitions: string;
  readonly scan: Scan;
}

/** What is known of the complete lines of `open`. */
interface Scan {
  readonly read: number;
  readonly fence: Fence | null;
  readonly isList: boolean;
  readonly afterBlank: boolean;
}

const start: Scan = { read: 0, fence: null, isList: false, afterBlank: false };
export const noBlocks: Blocks = { done: [], open: '', isCode: false, definitions: '', scan: start };

/** A long list is cut between its items, so that what is added to it does not cost more and more. */
const LONG_LIST = 2_000;
const MOST_DEFINITIONS = 20_000;

const item = /^(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;
const fenceLine = /^([ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(`{3,}|~{3,})(.*)$/;
const definition = /^ {0,3}\[[^\]^][^\]]*\]:[ \t]*\S/;

/** Cuts only where every reader of Markdown would see two blocks; a piece that is too large is never wrong. */
export function appendText(before: Blocks, text: string): Blocks {
  const done = [...before.done];
  let { open, definitions, scan } = before;
  open += text;
  for (let end = open.indexOf('\n', scan.read); end !== -1; end = open.indexOf('\n', scan.read)) {
    const line = open.slice(scan.read, end).replace(/\r$/, '');
    if (scan.read > 0 && beginsBlock(line, scan)) {
      done.push(open.slice(0, scan.read));
      open = open.slice(scan.read);
      end -= scan.read;
      scan = start;
    }
    const next = afterLine(line, scan);
    scan = { ...next, read: end + 1 };
    if (scan.fence === null && definition.test(line) && definitions.length < MOST_DEFINITIONS)
      definitions += `${line}\n`;
    if (next.isOver) {
      done.push(open.slice(0, end + 1));
      open = open.slice(end + 1);
      scan = start;
    }
  }
  return { done, open, isCode: scan.fence?.isOuter ?? false, definitions, scan };
}

function beginsBlock(line: string, { fence, isList, afterBlank, read }: Scan): boolean {
  if (fence !== null || line.trim() === '') return false;
  if (openedFence(line)?.isOuter) return true;
  const isItem = item.test(line);
  if (isList && isItem) return read > LONG_LIST;
  // Indented, it may belong to an item above.
  return afterBlank && !/^[ \t]/.test(line);
}

function afterLine(line: string, scan: Scan): Omit<Scan, 'read'> & { readonly isOver: boolean } {
  const { fence } = scan;
  if (fence !== null) {
    const isOver = closes(line, fence);
    return {
      fence: isOver ? null : fence,
      isList: scan.isList,
      afterBlank: false,
      isOver: isOver && fence.isOuter,
    };
  }
  return {
    fence: openedFence(line),
    isList: scan.isList || item.test(line),
    afterBlank: line.trim() === '',
    isOver: false,
  };
}

function openedFence(line: string): Fence | null {
  const [, before, mark, info] = fenceLine.exec(line) ?? [];
  if (mark === undefined || (mark.startsWith('`') && info?.includes('`'))) return null;
  return { mark, isOuter: before === '' };
}

function closes(line: string, { mark }: Fence): boolean {
  const text = line.trim();
  return text.startsWith(mark) && text === mark.charAt(0).repeat(text.length);
}

/** All pieces, in their order. */
export function blocksOf({ done, open }: Blocks): readonly string[] {
  return open === '' ? done : [...done, open];
}
