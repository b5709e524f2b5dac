import {
  MAX_ROUND_LENGTH,
  MAX_CALL_ARGUMENTS_LENGTH,
  MAX_CALL_NAME_LENGTH,
  MAX_CALLS_PER_ROUND,
} from '../limits.ts';
import { asRecord } from './asRecord.ts';
import type { RequestedCall } from './model.ts';

/** Puts calls together from the pieces in which a model sends them. */
export interface CallCollector {
  /** False when there is too much of it. */
  add(deltas: unknown): boolean;
  calls(): readonly RequestedCall[];
}

interface PartialCall {
  id: string | undefined;
  name: string;
  args: string;
}

export function createCallCollector(): CallCollector {
  const partialCalls: PartialCall[] = [];
  const byIndex = new Map<number, PartialCall>();
  let size = 0;

  /** Most say by `index` which call a piece belongs to. Some send each call whole, all of them at the same index. */
  function findPartialCall({ index, id }: CallDelta): PartialCall {
    const existing = index === undefined ? partialCalls.at(-1) : byIndex.get(index);
    if (existing && (id === undefined || existing.id === undefined || existing.id === id)) {
      existing.id ??= id;
      return existing;
    }
    const call: PartialCall = { id, name: '', args: '' };
    partialCalls.push(call);
    if (index !== undefined) byIndex.set(index, call);
    return call;
  }

  function isWithinLimits(call: PartialCall): boolean {
    return (
      partialCalls.length <= MAX_CALLS_PER_ROUND &&
      call.args.length <= MAX_CALL_ARGUMENTS_LENGTH &&
      call.name.length <= MAX_CALL_NAME_LENGTH &&
      size <= MAX_ROUND_LENGTH
    );
  }

  return {
    add(deltas) {
      for (const value of Array.isArray(deltas) ? deltas : []) {
        const delta = parseDelta(value);
        const call = findPartialCall(delta);
        call.name += delta.name;
        call.args += delta.args;
        size += delta.name.length + delta.args.length;
        if (!isWithinLimits(call)) return false;
      }
      return true;
    },
    calls: () => partialCalls.map(({ name, args }) => ({ name, args })),
  };
}

interface CallDelta {
  index: number | undefined;
  id: string | undefined;
  name: string;
  args: string;
}

function parseDelta(value: unknown): CallDelta {
  const { index, id, function: functionFields } = asRecord(value);
  const { name, arguments: args } = asRecord(functionFields);
  return {
    index: typeof index === 'number' ? index : undefined,
    id: typeof id === 'string' && id !== '' ? id : undefined,
    name: typeof name === 'string' ? name : '',
    args: typeof args === 'string' ? args : '',
  };
}
