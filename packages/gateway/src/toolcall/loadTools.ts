import type { Cancellation } from '@behalf/kernel';
import type { Catalog, ToolList } from '../catalog/catalog.ts';
import type { ListAll, ItemList, ListMethod } from '../catalog/listAll.ts';
import type { LeaseOptions } from '../connections/connectionManager.ts';
import { SignInRequired } from '../credentials/signInRequired.ts';
import { principalKey, type Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { SendParts } from './sendToServer.ts';
import type { Inbound } from './inbound.ts';
import type { AllowedServer } from './checkAccess.ts';
import { requestOptions } from './callUpstream.ts';
import { leaseConnection } from './leaseConnection.ts';
import { maskPresentedSecrets } from './maskSecrets.ts';
import type { PreparedTarget } from './obtainCredential.ts';
import {
  retryAfterRefusal,
  isCredentialReplaced,
  isTokenRefused,
  runLastAttempt,
  canRetry,
  toStepUpError,
} from './recoverFromRefusal.ts';
import { withInstructions } from './serverInstructions.ts';

export interface LoadToolsParts extends Pick<SendParts, 'connections'> {
  readonly catalog: Catalog;
  /** Every page of a list, within the budgets. */
  readonly listAll: ListAll;
}

/** Whose list it is: everybody's for a shared server, the caller's own otherwise. */
export function ownerKey(server: ServerSnapshot, principal: Principal): string {
  return server.scope === 'app' ? '' : principalKey(principal);
}

export interface LoadToolsOptions {
  readonly refresh?: boolean | 'if-old';
  readonly lease?: Omit<LeaseOptions, 'signal'>;
}

/** What this caller presents. With the signal of those who wait for it, where they are more than one. */
export type PrepareTarget = (signal?: Cancellation) => Promise<PreparedTarget>;

/**
 * The tools this caller has on this server, asked for unless they are known: only then is a credential obtained, and
 * anew for each listing. One from before the listing began may be the one that was replaced since.
 */
export function loadTools(
  parts: LoadToolsParts,
  server: AllowedServer,
  obtain: PrepareTarget,
  inbound: Inbound,
  { refresh = false, lease = {} }: LoadToolsOptions = {},
): Promise<ToolList> {
  return parts.catalog.load(
    server,
    ownerKey(server, inbound.principal),
    async (signal) =>
      listWithRetry(parts, () => obtain(signal), listInbound(server, inbound, signal), 'tools/list', lease),
    { signal: inbound.signal, refresh },
  );
}

/**
 * Who asks for a list. What everybody waits for is nobody's own: the hop count of whoever came first would refuse it to
 * all the others, and that one's trace and baggage are not theirs.
 */
function listInbound(server: AllowedServer, inbound: Inbound, signal: AbortSignal): Inbound {
  if (server.scope === 'user') return { ...inbound, signal };
  const { principal, door } = inbound;
  return { principal, door, signal };
}

/** One list over a connection of its own lease; a connection that was gone before it is replaced once, as for calls. */
export async function listWithRetry(
  parts: Pick<LoadToolsParts, 'connections' | 'listAll'>,
  obtain: () => Promise<PreparedTarget>,
  inbound: Inbound,
  method: ListMethod,
  options: Omit<LeaseOptions, 'signal'> = {},
): Promise<ItemList> {
  const prepared = await obtain();
  const list = (target: PreparedTarget) => listOnce(parts, target, inbound, method, options);
  try {
    return await list(prepared);
  } catch (error) {
    if (inbound.signal.aborted) throw error;
    const stepUpError = toStepUpError(error, prepared);
    if (stepUpError) throw stepUpError;
    if (isTokenRefused(error, prepared))
      return retryAfterRefusal(error, prepared, inbound.signal, { resend: list, prepareFresh: obtain });
    // Signed in anew before anything was sent.
    if (error instanceof SignInRequired && isCredentialReplaced(prepared))
      return runLastAttempt(await obtain(), list);
    if (!canRetry(error, prepared.server)) throw error;
    return runLastAttempt(prepared, list);
  }
}

async function listOnce(
  parts: Pick<LoadToolsParts, 'connections' | 'listAll'>,
  prepared: PreparedTarget,
  inbound: Inbound,
  method: ListMethod,
  options: Omit<LeaseOptions, 'signal'>,
): Promise<ItemList> {
  const lease = await leaseConnection(parts.connections, prepared, { ...options, signal: inbound.signal });
  let failure: unknown;
  try {
    const listed = await parts.listAll(lease.upstream, method, requestOptions(prepared, inbound));
    if (method !== 'tools/list') return listed;
    return withInstructions(listed, prepared.server, {
      claims: lease.upstream.claims,
      maskText: (text) => maskPresentedSecrets(text, prepared),
    });
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    lease.release(failure);
  }
}
