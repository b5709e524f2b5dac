import type { Response } from 'express';

/** Aborts when the connection ends before the answer: work for nobody stops. */
export function whenCallerLeaves(res: Response): AbortSignal {
  const left = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) left.abort();
  });
  return left.signal;
}
