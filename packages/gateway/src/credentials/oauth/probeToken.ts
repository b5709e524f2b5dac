import { withTimeout, type Clock } from '@behalf/kernel';
import type { UserPrincipal } from '../../principal/principal.ts';
import type { ServerSnapshot } from '../../registry/server.ts';
import type { NewToken, TokenProbe } from './flows/flowParts.ts';
import type { ProbeResult } from './flows/flowPayload.ts';

const TIMEOUT_MS = 10_000;

/** How the server takes a token. Never fails: one that cannot be asked is `unreachable`. */
export function probeToken(
  { probe, clock }: { readonly probe: TokenProbe; readonly clock: Clock },
  server: ServerSnapshot,
  principal: UserPrincipal,
  token: NewToken,
): Promise<ProbeResult> {
  const probing = probe(server, principal, token).catch(() => 'unreachable' as const);
  return withTimeout(clock, TIMEOUT_MS, probing, () => 'unreachable' as const);
}
