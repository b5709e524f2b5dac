import type { RemoteTarget, UpstreamTarget } from '../upstream/target.ts';
import type { ServerClaims, Upstream } from '../upstream/upstream.ts';

/**
 * Whether a conversation may hold nothing of the user who opened it. A child process got its user's values when it
 * started, and a websocket or an event stream was opened with its user's headers: those stay that user's, whatever the
 * server claims to be.
 */
export function canBeStateless(target: UpstreamTarget): target is RemoteTarget {
  return target.type === 'streamable-http';
}

/** Whether it holds nothing of them indeed: each request brings its own credential. */
export function isStateless(target: UpstreamTarget, claims: ServerClaims): boolean {
  return canBeStateless(target) && claims.era === 'modern';
}

/**
 * The conversation as all users may have it. What a server tells the one who came first, by way of instructions, may be
 * meant for that user or be made up by them: it is nobody else's.
 */
export function withoutInstructions(upstream: Upstream): Upstream {
  const { claims } = upstream;
  return claims.instructions === undefined
    ? upstream
    : { ...upstream, claims: { ...claims, instructions: undefined } };
}
