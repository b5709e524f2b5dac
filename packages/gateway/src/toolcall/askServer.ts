import type { ErrorCode } from '@behalf/contracts';
import { unlessAborted, type Random } from '@behalf/kernel';
import type { OboTrust } from '../access/oboTrust.ts';
import type { ConnectionManager } from '../connections/connectionManager.ts';
import type { AppTokens } from '../credentials/appTokens.ts';
import type { Credentials } from '../credentials/credentials.ts';
import { createTokenRequestBudget, type TokenRequestBudget } from '../credentials/obo/oboTokens.ts';
import type { CredentialVault } from '../credentials/vault/vault.ts';
import { SignInRequired } from '../credentials/signInRequired.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Registry } from '../registry/registry.ts';
import { usesGraph } from '../registry/scope.ts';
import type { UpstreamResponse } from '../upstream/upstream.ts';
import type { Inbound } from './call.ts';
import { callUpstream, type Question } from './callUpstream.ts';
import { checkAccess, type AccessParts, type Allowed } from './checkAccess.ts';
import { leaseConnection } from './leaseConnection.ts';
import { maskTokens } from './maskPresented.ts';
import { obtainCredential, type Ready } from './obtainCredential.ts';
import {
  afterRefusal,
  bearerOf,
  isReplaced,
  isRefusedToken,
  lastTry,
  widerScope,
} from './recoverFromRefusal.ts';
import { inRounds } from './rounds.ts';
import { resolveServer } from './resolveServer.ts';

export interface AskParts extends AccessParts {
  readonly registry: Pick<Registry, 'find'>;
  readonly credentials: Credentials;
  /** What is ours, for servers that everybody shares. */
  readonly appTokens: AppTokens;
  readonly vault: Pick<CredentialVault, 'withExclusiveUse'>;
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

/** What this caller presents to the server; throws `SignInRequired` when there is nothing to present. */
export async function prepare(
  parts: AskParts,
  server: Allowed,
  inbound: Inbound,
  {
    purse = createTokenRequestBudget(),
    explicit = false,
  }: { purse?: TokenRequestBudget; explicit?: boolean } = {},
): Promise<Ready> {
  if (server.scope === 'app') {
    const bearer = await parts.appTokens.bearerFor(server, purse);
    return bearer ? { server, bearer } : { server };
  }
  // Before anything is obtained: who decides where it leads must be somebody who may.
  if (server.auth === 'obo' && !(await parts.oboTrust.isTrusted(server))) {
    throw new GatewayError('MCP_OBO_FORBIDDEN');
  }
  const obtaining = obtainCredential(parts.credentials, server, inbound, parts.random, purse);
  // A token may have to be exchanged for it, which goes on without who leaves.
  const waits = usesGraph(server.settings) || server.auth === 'oauth';
  const ready = await (waits ? unlessAborted(obtaining, inbound.signal) : obtaining);
  const bearer = bearerOf(ready);
  if (bearer && 'holder' in ready) {
    // Nothing is exchanged for a server that is left alone, and no connection opened without a token.
    if (!explicit) parts.connections.user.checkBreaker(ready.server, ready.holder);
    const token = bearer.token();
    if (token instanceof Promise) await unlessAborted(token, inbound.signal);
  }
  return ready;
}

/** What to send after a failure, if anything. */
type Again = (error: unknown) => Question | undefined | Promise<Question | undefined>;

/** One question, alone with its credential where that is asked for, and again for as long as the server asks back. */
export async function ask(
  parts: AskParts,
  ready: Ready,
  question: Question,
  inbound: Inbound,
  again: Again,
): Promise<UpstreamResponse> {
  const exclusive = 'holder' in ready ? ready.exclusive : undefined;
  // Nobody holds a credential while a person thinks: each round is a request of its own.
  const round = (now: Inbound) => {
    const asking = () => askTwiceAtMost(parts, ready, question, now, again);
    return exclusive ? parts.vault.withExclusiveUse(exclusive, now.signal, asking) : asking();
  };
  const answer = await round(inbound);
  return answer.isInputRequired
    ? inRounds(answer, { method: question.method, ready, inbound }, round)
    : answer;
}

/** One question on one connection, and a second time at most. Who has left is not asked for. */
async function askTwiceAtMost(
  parts: AskParts,
  ready: Ready,
  question: Question,
  inbound: Inbound,
  again: Again,
): Promise<UpstreamResponse> {
  try {
    return await askOnce(parts, ready, question, inbound);
  } catch (error) {
    if (inbound.signal.aborted) throw error;
    const wider = widerScope(error, ready);
    if (wider) throw wider;
    const tries = {
      again: async (now: Ready) => maskTokens(await askOnce(parts, now, question, inbound), ready),
      anew: () =>
        prepare(parts, ready.server, inbound, { purse: { ...createTokenRequestBudget(), isRenewed: true } }),
    };
    if (isRefusedToken(error, ready)) return afterRefusal(error, ready, inbound.signal, tries);
    // Signed in anew before anything was sent.
    if (error instanceof SignInRequired && isReplaced(ready)) return lastTry(await tries.anew(), tries.again);
    const next = await again(error);
    if (!next) throw error;
    return lastTry(ready, () => askOnce(parts, ready, next, inbound));
  }
}

async function askOnce(
  { connections }: AskParts,
  ready: Ready,
  question: Question,
  inbound: Inbound,
): Promise<UpstreamResponse> {
  const lease = await leaseConnection(connections, ready, { signal: inbound.signal });
  return await callUpstream(lease, ready, question, inbound);
}
