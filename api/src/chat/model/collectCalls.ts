import { LARGEST_ROUND, LONGEST_ARGUMENTS, LONGEST_CALL_NAME, MOST_CALLS_OF_A_ROUND } from '../limits.ts';
import { fieldsOf } from './fieldsOf.ts';
import type { WantedCall } from './model.ts';

/** Puts calls together from the pieces in which a model sends them. */
export interface CallCollector {
  /** False when there is too much of it. */
  add(pieces: unknown): boolean;
  calls(): readonly WantedCall[];
}

interface Draft {
  id: string | undefined;
  name: string;
  args: string;
}

export function createCallCollector(): CallCollector {
  const drafts: Draft[] = [];
  const places = new Map<number, Draft>();
  let size = 0;

  /** Most say by `index` which call a piece belongs to. Some send each call whole, all of them at the same index. */
  function draftOf({ index, id }: Piece): Draft {
    const known = index === undefined ? drafts.at(-1) : places.get(index);
    if (known && (id === undefined || known.id === undefined || known.id === id)) {
      known.id ??= id;
      return known;
    }
    const draft: Draft = { id, name: '', args: '' };
    drafts.push(draft);
    if (index !== undefined) places.set(index, draft);
    return draft;
  }

  function fits(draft: Draft): boolean {
    return (
      drafts.length <= MOST_CALLS_OF_A_ROUND &&
      draft.args.length <= LONGEST_ARGUMENTS &&
      draft.name.length <= LONGEST_CALL_NAME &&
      size <= LARGEST_ROUND
    );
  }

  return {
    add(pieces) {
      for (const value of Array.isArray(pieces) ? pieces : []) {
        const piece = readPiece(value);
        const draft = draftOf(piece);
        draft.name += piece.name;
        draft.args += piece.args;
        size += piece.name.length + piece.args.length;
        if (!fits(draft)) return false;
      }
      return true;
    },
    calls: () => drafts.map(({ name, args }) => ({ name, args })),
  };
}

interface Piece {
  index: number | undefined;
  id: string | undefined;
  name: string;
  args: string;
}

function readPiece(value: unknown): Piece {
  const { index, id, function: said } = fieldsOf(value);
  const { name, arguments: args } = fieldsOf(said);
  return {
    index: typeof index === 'number' ? index : undefined,
    id: typeof id === 'string' && id !== '' ? id : undefined,
    name: typeof name === 'string' ? name : '',
    args: typeof args === 'string' ? args : '',
  };
}
