import type { ErrorCode } from '@behalf/contracts';
import { unlessAborted, type Random } from '@behalf/kernel';
import type { OboTrust } from '../access/oboTrust.ts';
import type { ConnectionManager } from '../connections/connectionManager.ts';
import type { Credentials, SignInReason } from '../credentials/credentials.ts';
import { createPurse, type Purse } from '../credentials/obo/oboTokens.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Registry } from '../registry/registry.ts';
import { usesGraph } from '../registry/scope.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { Answer } from '../upstream/upstream.ts';
import type { Inbound } from './call.ts';
import { callUpstream, type Question } from './callUpstream.ts';
import { checkAccess, type AccessParts, type Allowed } from './checkAccess.ts';
import { leaseConnection } from './leaseConnection.ts';
import { obtainCredential, type Ready } from './obtainCredential.ts';
import { afterRefusal, bearerOf, isRefusedToken } from './recoverFromRefusal.ts';
import { resolveServer } from './resolveServer.ts';

export interface AskParts extends AccessParts {
  readonly registry: Pick<Registry, 'find'>;
  readonly credentials: Credentials;
  readonly connections: Pick<ConnectionManager, 'shared' | 'user'>;
  readonly random: Random;
  /** Whether users' own tokens may go where this server leads. */
  readonly oboTrust: Pick<OboTrust, 'isTrusted'>;
}

/** The server, once it is clear that this caller may use it. */
export function enter(parts: AskParts, inbound: Inbound, name: string, denial: ErrorCode): Allowed {
  return checkAccess(
    parts,
    inbound.principal,
    resolveServer(parts.registry, inbound.principal, name),
    denial,
  );
}

export class SignInNeeded extends Error {
  override readonly name = 'SignInNeeded';
  readonly server: ServerSnapshot;
  readonly reason: SignInReason;
  constructor(server: ServerSnapshot, reason: SignInReason) {
    super('The user must sign in at the server first');
    this.server = server;
    this.reason = reason;
  }
}

/** What this caller presents to the server; throws `SignInNeeded` when there is nothing to present. */
export async function prepare(
  parts: AskParts,
  server: Allowed,
  inbound: Inbound,
  { purse = createPurse(), explicit = false }: { purse?: Purse; explicit?: boolean } = {},
): Promise<Ready> {
  if (server.scope === 'app') return { server };
  // Before anything is obtained: who decides where it leads must be somebody who may.
  if (server.auth === 'obo' && !(await parts.oboTrust.isTrusted(server))) {
    throw new GatewayError('MCP_OBO_FORBIDDEN');
  }
  const obtaining = obtainCredential(parts.credentials, server, inbound, parts.random, purse);
  // A token may have to be exchanged for it, which goes on without who leaves.
  const obtained = await (usesGraph(server.settings) ? unlessAborted(obtaining, inbound.signal) : obtaining);
  if (obtained.kind !== 'ready') throw new SignInNeeded(server, obtained.reason);
  const { ready } = obtained;
  const bearer = bearerOf(ready);
  if (bearer && 'holder' in ready) {
    // Nothing is exchanged for a server that is left alone, and no connection opened without a token.
    if (!explicit) parts.connections.user.check(ready.server, ready.holder);
    const token = bearer.token();
    if (token instanceof Promise) await unlessAborted(token, inbound.signal);
  }
  return ready;
}

/**
 * One question on one connection, and a second time at most: `again` says what to send after a failure, if anything.
 * Who has left is not asked for.
 */
export async function ask(
  parts: AskParts,
  ready: Ready,
  question: Question,
  inbound: Inbound,
  again: (error: unknown) => Question | undefined | Promise<Question | undefined>,
): Promise<Answer> {
  try {
    return await askOnce(parts, ready, question, inbound);
  } catch (error) {
    if (inbound.signal.aborted) throw error;
    if (isRefusedToken(error, ready)) {
      return afterRefusal(error, ready, inbound.signal, () => askOnce(parts, ready, question, inbound));
    }
    const next = await again(error);
    if (!next) throw error;
    return askOnce(parts, ready, next, inbound);
  }
}

async function askOnce(
  { connections }: AskParts,
  ready: Ready,
  question: Question,
  inbound: Inbound,
): Promise<Answer> {
  const lease = await leaseConnection(connections, ready, { signal: inbound.signal });
  return callUpstream(lease, ready, question, inbound);
}
