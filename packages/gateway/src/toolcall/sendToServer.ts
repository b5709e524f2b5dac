import type { ErrorCode } from '@behalf/contracts';
import { rejectOnAbort, type Random } from '@behalf/kernel';
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
import type { Inbound } from './inbound.ts';
import { callUpstream, type UpstreamRequest } from './callUpstream.ts';
import { checkAccess, type AccessParts, type AllowedServer } from './checkAccess.ts';
import { leaseConnection } from './leaseConnection.ts';
import { maskTokens } from './maskSecrets.ts';
import { obtainCredential, type PreparedTarget } from './obtainCredential.ts';
import {
  retryAfterRefusal,
  getBearer,
  isCredentialReplaced,
  isTokenRefused,
  runLastAttempt,
  toStepUpError,
} from './recoverFromRefusal.ts';
import { runInputRequiredLoop } from './inputRequiredLoop.ts';
import { resolveServer } from './resolveServer.ts';

export interface SendParts extends AccessParts {
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
export function resolveAllowedServer(
  parts: SendParts,
  inbound: Inbound,
  name: string,
  denialCode: ErrorCode,
): AllowedServer {
  return checkAccess(
    parts,
    inbound.principal,
    resolveServer(parts.registry, inbound.principal, name),
    denialCode,
  );
}

/** What this caller presents to the server; throws `SignInRequired` when there is nothing to present. */
export async function prepareCredential(
  parts: SendParts,
  server: AllowedServer,
  inbound: Inbound,
  {
    budget = createTokenRequestBudget(),
    bypassesBreaker = false,
  }: { budget?: TokenRequestBudget; bypassesBreaker?: boolean } = {},
): Promise<PreparedTarget> {
  if (server.scope === 'app') {
    const bearer = await parts.appTokens.bearerFor(server, budget);
    return bearer ? { server, bearer } : { server };
  }
  // Before anything is obtained: who decides where it leads must be somebody who may.
  if (server.auth === 'obo' && !(await parts.oboTrust.isTrusted(server))) {
    throw new GatewayError('MCP_OBO_FORBIDDEN');
  }
  const pending = obtainCredential(parts.credentials, server, inbound, parts.random, budget);
  // A token may have to be exchanged for it, which goes on without who leaves.
  const canAbort = usesGraph(server.settings) || server.auth === 'oauth';
  const prepared = await (canAbort ? rejectOnAbort(pending, inbound.signal) : pending);
  const bearer = getBearer(prepared);
  if (bearer && 'holder' in prepared) {
    // Nothing is exchanged for a server that is left alone, and no connection opened without a token.
    if (!bypassesBreaker) parts.connections.user.checkBreaker(prepared.server, prepared.holder);
    const token = bearer.token();
    if (token instanceof Promise) await rejectOnAbort(token, inbound.signal);
  }
  return prepared;
}

/** What to send after a failure, if anything. */
type GetRetryRequest = (error: unknown) => UpstreamRequest | undefined | Promise<UpstreamRequest | undefined>;

/** One question, alone with its credential where that is asked for, and again for as long as the server asks back. */
export async function sendToServer(
  parts: SendParts,
  prepared: PreparedTarget,
  request: UpstreamRequest,
  inbound: Inbound,
  getRetryRequest: GetRetryRequest,
): Promise<UpstreamResponse> {
  const exclusiveKey = 'holder' in prepared ? prepared.exclusiveKey : undefined;
  // Nobody holds a credential while a person thinks: each round is a request of its own.
  const sendRound = (roundInbound: Inbound) => {
    const sendNow = () => sendWithOneRetry(parts, prepared, request, roundInbound, getRetryRequest);
    return exclusiveKey
      ? parts.vault.withExclusiveUse(exclusiveKey, roundInbound.signal, sendNow)
      : sendNow();
  };
  const response = await sendRound(inbound);
  return response.isInputRequired
    ? runInputRequiredLoop(response, { method: request.method, prepared, inbound }, sendRound)
    : response;
}

/** One question on one connection, and a second time at most. Who has left is not asked for. */
async function sendWithOneRetry(
  parts: SendParts,
  prepared: PreparedTarget,
  request: UpstreamRequest,
  inbound: Inbound,
  getRetryRequest: GetRetryRequest,
): Promise<UpstreamResponse> {
  try {
    return await sendOnce(parts, prepared, request, inbound);
  } catch (error) {
    if (inbound.signal.aborted) throw error;
    const stepUpError = toStepUpError(error, prepared);
    if (stepUpError) throw stepUpError;
    const retrySteps = {
      resend: async (retryTarget: PreparedTarget) =>
        maskTokens(await sendOnce(parts, retryTarget, request, inbound), prepared),
      prepareFresh: () =>
        prepareCredential(parts, prepared.server, inbound, {
          budget: { ...createTokenRequestBudget(), isRenewed: true },
        }),
    };
    if (isTokenRefused(error, prepared))
      return retryAfterRefusal(error, prepared, inbound.signal, retrySteps);
    // Signed in anew before anything was sent.
    if (error instanceof SignInRequired && isCredentialReplaced(prepared))
      return runLastAttempt(await retrySteps.prepareFresh(), retrySteps.resend);
    const retryRequest = await getRetryRequest(error);
    if (!retryRequest) throw error;
    return runLastAttempt(prepared, () => sendOnce(parts, prepared, retryRequest, inbound));
  }
}

async function sendOnce(
  { connections }: SendParts,
  prepared: PreparedTarget,
  request: UpstreamRequest,
  inbound: Inbound,
): Promise<UpstreamResponse> {
  const lease = await leaseConnection(connections, prepared, { signal: inbound.signal });
  return await callUpstream(lease, prepared, request, inbound);
}
