import type { Bearer, UpstreamTarget } from './target.ts';

/** A target, and whether somebody waits for its token at this moment. */
export interface TokenWait {
  readonly target: UpstreamTarget;
  readonly pending: boolean;
}

/** Time that passes while a token is exchanged says nothing of the server, and must not be told of it. */
export function watchToken(target: UpstreamTarget): TokenWait {
  if (target.type === 'stdio' || !target.bearer) return { target, pending: false };
  const { bearer } = target;
  let waits = 0;
  const watched: Bearer = {
    ...bearer,
    token() {
      const asked = bearer.token();
      if (!(asked instanceof Promise)) return asked;
      waits += 1;
      return asked.finally(() => (waits -= 1));
    },
  };
  return {
    target: { ...target, bearer: watched },
    get pending() {
      return waits > 0;
    },
  };
}
