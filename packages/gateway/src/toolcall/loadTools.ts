import type { Cancellation } from '@behalf/kernel';
import type { Catalog, ToolList } from '../catalog/catalog.ts';
import type { ListAll, Listed, ListMethod } from '../catalog/listAll.ts';
import type { LeaseOptions } from '../connections/connectionManager.ts';
import { SignInRequired } from '../credentials/signInRequired.ts';
import { principalKey, type Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { AskParts } from './askServer.ts';
import type { Inbound } from './call.ts';
import type { Allowed } from './checkAccess.ts';
import { requestOptions } from './callUpstream.ts';
import { leaseConnection } from './leaseConnection.ts';
import { maskPresented } from './maskPresented.ts';
import type { Ready } from './obtainCredential.ts';
import {
  afterRefusal,
  isReplaced,
  isRefusedToken,
  lastTry,
  mayRepeat,
  widerScope,
} from './recoverFromRefusal.ts';
import { withWords } from './serverWords.ts';

export interface LoadParts extends Pick<AskParts, 'connections'> {
  readonly catalog: Catalog;
  /** Every page of a list, within the budgets. */
  readonly listAll: ListAll;
}

/** Whose list it is: everybody's for a shared server, the caller's own otherwise. */
export function holderKey(server: ServerSnapshot, principal: Principal): string {
  return server.scope === 'app' ? '' : principalKey(principal);
}

export interface LoadOptions {
  readonly refresh?: boolean | 'if-old';
  readonly lease?: Omit<LeaseOptions, 'signal'>;
}

/** What this caller presents. With the signal of those who wait for it, where they are more than one. */
export type Obtain = (signal?: Cancellation) => Promise<Ready>;

/**
 * The tools this caller has on this server, asked for unless they are known: only then is a credential obtained, and
 * anew for each listing. One from before the listing began may be the one that was replaced since.
 */
export function loadTools(
  parts: LoadParts,
  server: Allowed,
  obtain: Obtain,
  inbound: Inbound,
  { refresh = false, lease = {} }: LoadOptions = {},
): Promise<ToolList> {
  return parts.catalog.load(
    server,
    holderKey(server, inbound.principal),
    async (signal) =>
      listOn(parts, () => obtain(signal), asker(server, inbound, signal), 'tools/list', lease),
    { signal: inbound.signal, refresh },
  );
}

/**
 * Who asks for a list. What everybody waits for is nobody's own: the hop count of whoever came first would refuse it to
 * all the others, and that one's trace and baggage are not theirs.
 */
function asker(server: Allowed, inbound: Inbound, signal: AbortSignal): Inbound {
  if (server.scope === 'user') return { ...inbound, signal };
  const { principal, door } = inbound;
  return { principal, door, signal };
}

/** One list over a connection of its own lease; a connection that was gone before it is replaced once, as for calls. */
export async function listOn(
  parts: Pick<LoadParts, 'connections' | 'listAll'>,
  obtain: () => Promise<Ready>,
  inbound: Inbound,
  method: ListMethod,
  options: Omit<LeaseOptions, 'signal'> = {},
): Promise<Listed> {
  const ready = await obtain();
  const again = (now: Ready) => listOnce(parts, now, inbound, method, options);
  try {
    return await again(ready);
  } catch (error) {
    if (inbound.signal.aborted) throw error;
    const wider = widerScope(error, ready);
    if (wider) throw wider;
    if (isRefusedToken(error, ready))
      return afterRefusal(error, ready, inbound.signal, { again, anew: obtain });
    // Signed in anew before anything was sent.
    if (error instanceof SignInRequired && isReplaced(ready)) return lastTry(await obtain(), again);
    if (!mayRepeat(error, ready.server)) throw error;
    return lastTry(ready, again);
  }
}

async function listOnce(
  parts: Pick<LoadParts, 'connections' | 'listAll'>,
  ready: Ready,
  inbound: Inbound,
  method: ListMethod,
  options: Omit<LeaseOptions, 'signal'>,
): Promise<Listed> {
  const lease = await leaseConnection(parts.connections, ready, { ...options, signal: inbound.signal });
  let failure: unknown;
  try {
    const listed = await parts.listAll(lease.upstream, method, requestOptions(ready, inbound));
    if (method !== 'tools/list') return listed;
    return withWords(listed, ready.server, {
      claims: lease.upstream.claims,
      masked: (text) => maskPresented(text, ready),
    });
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    lease.release(failure);
  }
}
