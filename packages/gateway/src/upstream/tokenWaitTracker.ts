import type { Bearer, UpstreamTarget } from './target.ts';

/** A target, and whether somebody waits for its token at this moment. */
export interface TokenWaitTracker {
  readonly target: UpstreamTarget;
  readonly isPending: boolean;
}

/** Time that passes while a token is exchanged says nothing of the server, and must not be told of it. */
export function trackTokenWait(target: UpstreamTarget): TokenWaitTracker {
  if (target.type === 'stdio' || !target.bearer) return { target, isPending: false };
  const { bearer } = target;
  let pendingCount = 0;
  const trackedBearer: Bearer = {
    ...bearer,
    token() {
      const tokenResult = bearer.token();
      if (!(tokenResult instanceof Promise)) return tokenResult;
      pendingCount += 1;
      return tokenResult.finally(() => (pendingCount -= 1));
    },
  };
  return {
    target: { ...target, bearer: trackedBearer },
    get isPending() {
      return pendingCount > 0;
    },
  };
}
