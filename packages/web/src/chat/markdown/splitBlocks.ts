interface Fence {
  readonly marker: string;
  /** Whether the fence starts in the first column, so that its last line ends the block. */
  readonly isOuter: boolean;
}

/**
 * Markdown text split into blocks that can be parsed separately. Completed blocks never change, so
 * an append affects only the pending block.
 */
export interface MarkdownBlocks {
  readonly completed: readonly string[];
  /** Last block, which can still grow. */
  readonly pending: string;
  /** Whether `pending` is code without its closing fence. */
  readonly isCode: boolean;
  /** Definitions of reference links (`[text][name]`) of all blocks. */
  readonly definitions: string;
  readonly scan: Scan;
}

/** Scan state of the complete lines of `pending`. */
interface Scan {
  readonly scanned: number;
  readonly fence: Fence | null;
  readonly isList: boolean;
  readonly afterBlank: boolean;
}

const initialScan: Scan = { scanned: 0, fence: null, isList: false, afterBlank: false };
export const emptyBlocks: MarkdownBlocks = {
  completed: [],
  pending: '',
  isCode: false,
  definitions: '',
  scan: initialScan,
};

/** A longer list is split between its items, so that the cost of an append is bounded. */
const MAX_LIST_LENGTH = 2_000;
const MAX_DEFINITIONS_LENGTH = 20_000;

const itemPattern = /^(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;
const fencePattern = /^([ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(`{3,}|~{3,})(.*)$/;
const definitionPattern = /^ {0,3}\[[^\]^][^\]]*\]:[ \t]*\S/;

/** Appends text. Splits only where every Markdown parser sees two blocks: a larger block is never wrong. */
export function appendText(previous: MarkdownBlocks, text: string): MarkdownBlocks {
  const completed = [...previous.completed];
  let { pending, definitions, scan } = previous;
  pending += text;
  for (let end = pending.indexOf('\n', scan.scanned); end !== -1; end = pending.indexOf('\n', scan.scanned)) {
    const line = pending.slice(scan.scanned, end).replace(/\r$/, '');
    if (scan.scanned > 0 && startsBlock(line, scan)) {
      completed.push(pending.slice(0, scan.scanned));
      pending = pending.slice(scan.scanned);
      end -= scan.scanned;
      scan = initialScan;
    }
    const next = scanLine(line, scan);
    scan = { ...next, scanned: end + 1 };
    if (scan.fence === null && definitionPattern.test(line) && definitions.length < MAX_DEFINITIONS_LENGTH)
      definitions += `${line}\n`;
    if (next.endsBlock) {
      completed.push(pending.slice(0, end + 1));
      pending = pending.slice(end + 1);
      scan = initialScan;
    }
  }
  return { completed, pending, isCode: scan.fence?.isOuter ?? false, definitions, scan };
}

function startsBlock(line: string, { fence, isList, afterBlank, scanned }: Scan): boolean {
  if (fence !== null || line.trim() === '') return false;
  if (parseFence(line)?.isOuter) return true;
  const isItem = itemPattern.test(line);
  if (isList && isItem) return scanned > MAX_LIST_LENGTH;
  // An indented line can belong to a list item above.
  return afterBlank && !/^[ \t]/.test(line);
}

function scanLine(line: string, scan: Scan): Omit<Scan, 'scanned'> & { readonly endsBlock: boolean } {
  const { fence } = scan;
  if (fence !== null) {
    const endsBlock = closesFence(line, fence);
    return {
      fence: endsBlock ? null : fence,
      isList: scan.isList,
      afterBlank: false,
      endsBlock: endsBlock && fence.isOuter,
    };
  }
  return {
    fence: parseFence(line),
    isList: scan.isList || itemPattern.test(line),
    afterBlank: line.trim() === '',
    endsBlock: false,
  };
}

function parseFence(line: string): Fence | null {
  const [, before, marker, info] = fencePattern.exec(line) ?? [];
  if (marker === undefined || (marker.startsWith('`') && info?.includes('`'))) return null;
  return { marker, isOuter: before === '' };
}

function closesFence(line: string, { marker }: Fence): boolean {
  const text = line.trim();
  return text.startsWith(marker) && text === marker.charAt(0).repeat(text.length);
}

export function listBlocks({ completed, pending }: MarkdownBlocks): readonly string[] {
  return pending === '' ? completed : [...completed, pending];
}
