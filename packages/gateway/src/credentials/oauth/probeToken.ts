import { within, type Clock } from '@behalf/kernel';
import type { UserPrincipal } from '../../principal/principal.ts';
import type { ServerSnapshot } from '../../registry/server.ts';
import type { NewToken, Probe } from './flows/flowParts.ts';
import type { ProbeResult } from './flows/flowPayload.ts';

const PATIENCE_MS = 10_000;

/** How the server takes a token. Never fails: one that cannot be asked is `unreachable`. */
export function probeToken(
  { probe, clock }: { readonly probe: Probe; readonly clock: Clock },
  server: ServerSnapshot,
  principal: UserPrincipal,
  token: NewToken,
): Promise<ProbeResult> {
  const asked = probe(server, principal, token).catch(() => 'unreachable' as const);
  return within(clock, PATIENCE_MS, asked, () => 'unreachable' as const);
}
