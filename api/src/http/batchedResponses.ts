import type { ServerResponse } from 'node:http';

/**
 * Ends answers together, when all that came in with this turn of the loop has been looked at: requests to servers go out
 * before them, and whoever waits for several is woken once. Each wake-up costs about as much as a call's own work.
 */
export type EndBatched = (res: ServerResponse, text: string) => void;

export function createBatchedResponses(): EndBatched {
  let pending: [res: ServerResponse, text: string][] = [];
  function flush(): void {
    const batch = pending;
    pending = [];
    for (const [res, text] of batch) end(res, text);
  }
  return (res, text) => {
    if (pending.push([res, text]) === 1) setImmediate(flush);
  };
}

function end(res: ServerResponse, text: string): void {
  try {
    res.end(text);
  } catch {
    // The others have to be answered all the same.
    res.destroy();
  }
}
