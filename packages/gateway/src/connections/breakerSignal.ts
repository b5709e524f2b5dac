import type { UpstreamError, UpstreamReason } from '../upstream/upstreamError.ts';

/** What the end of an opening or of a use says about the road there, or about the credential. */
export type BreakerSignal = 'good' | 'bad' | 'none';

/** `opening`: the handshake. `use`: a request on a connection that stood. */
export type ConnectionPhase = 'opening' | 'use';

/** Nothing got there. */
const notSentReasons: ReadonlySet<UpstreamReason> = new Set(['connect_failed', 'connect_timeout', 'ended']);

/**
 * It got there, and then the server hung up or fell silent. In a handshake that is a dead server; in a call it may be
 * what one user's input does to a server that is well for all others, or a slow tool.
 */
const interruptedReasons: ReadonlySet<UpstreamReason> = new Set(['reset', 'timeout']);

/** Says nothing of the road: our own refusals, a token that was not there, a stream that broke while a tool ran, a 5xx. */
const neutralReasons: ReadonlySet<UpstreamReason> = new Set([
  'stream_broken',
  'upstream_5xx',
  'not_allowed',
  'too_many',
  'breaker_open',
  'token_timeout',
  'bearer_unsupported',
]);

/** Whether the server can be reached. Any answer proves it, an error or a refusal as well as a result. */
export function toTransportSignal(failure: UpstreamError | undefined, phase: ConnectionPhase): BreakerSignal {
  if (!failure) return 'good';
  const { reason, detail } = failure;
  if (notSentReasons.has(reason) || interruptedReasons.has(reason)) {
    if (phase === 'use' && interruptedReasons.has(reason)) return 'none';
    // Who answers is there. One user's junk may provoke a 5xx in a handshake, which must not shut the others out.
    return detail.status === undefined ? 'bad' : 'none';
  }
  return neutralReasons.has(reason) ? 'none' : 'good';
}

/**
 * Whether the server takes this credential. A handshake proves nothing: many servers let anybody in and refuse the
 * first call. A scope that is missing is one tool's matter.
 */
export function toCredentialSignal(
  failure: UpstreamError | undefined,
  phase: ConnectionPhase,
): BreakerSignal {
  if (failure?.reason === 'unauthorized' || failure?.reason === 'forbidden') return 'bad';
  if (phase === 'opening') return 'none';
  return failure === undefined || failure.reason === 'rpc_error' ? 'good' : 'none';
}
