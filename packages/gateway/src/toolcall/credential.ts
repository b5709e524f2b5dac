import { createHash } from 'node:crypto';
import type { ErrorCode } from '@behalf/contracts';
import { type Cancellation, type Random, rejectOnAbort } from '@behalf/kernel';
import { type AccessParts, type AllowedServer, checkAccess, resolveServer } from '../access/allowedServer.ts';
import type { OboTrust } from '../access/oboTrust.ts';
import type { ConnectionManager } from '../connections/connectionManager.ts';
import type { Credentials } from '../credentials/credentials.ts';
import type { AppTokens } from '../credentials/oauthTokens.ts';
import { type TokenRequestBudget, createTokenRequestBudget } from '../credentials/obo/bearer.ts';
import type { CredentialVault } from '../credentials/vault/vault.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { CredentialKey } from '../ports/index.ts';
import { principalKey } from '../principal/principal.ts';
import { type AppServer, type UserServer, usesGraph } from '../definitions/definition.ts';
import type { Registry } from '../servers/registry.ts';
import type { AppBearer, Bearer, UpstreamTarget } from '../upstream/target.ts';
import type { Inbound } from './inbound.ts';

/** Everything that a request to a server needs. */
export interface SendParts extends AccessParts {
  readonly registry: Pick<Registry, 'find'>;
  readonly credentials: Credentials;
  /** The gateway's own tokens for shared servers. */
  readonly appTokens: AppTokens;
  readonly vault: Pick<CredentialVault, 'withExclusiveUse'>;
  readonly connections: Pick<ConnectionManager, 'shared' | 'user'>;
  readonly random: Random;
  readonly oboTrust: Pick<OboTrust, 'isTrusted'>;
}

/** A server and the credential for it. The type keeps users' credentials off shared servers. */
export type PreparedTarget =
  | { readonly server: AllowedServer<AppServer>; readonly bearer?: AppBearer }
  | {
      readonly server: AllowedServer<UserServer>;
      readonly holder: {
        readonly principal: string;
        readonly target: UpstreamTarget;
        readonly binding: string;
        readonly requestKey?: string;
      };
      /** Set if only one request at a time may use the credential. */
      readonly exclusiveKey?: CredentialKey | undefined;
      /** The label of the stored credential. */
      readonly credential?: string | undefined;
    };

/** Finds the server by name and checks that the caller may use it. */
export function resolveAllowedServer(
  parts: Pick<SendParts, 'registry' | 'requirePermission' | 'canSee'>,
  { principal }: Pick<Inbound, 'principal'>,
  name: string,
  denialCode: ErrorCode,
): AllowedServer {
  return checkAccess(parts, principal, resolveServer(parts.registry, principal, name), denialCode);
}

interface PrepareOptions {
  readonly budget?: TokenRequestBudget;
  readonly bypassesBreaker?: boolean;
}

/**
 * Obtains the credential for this caller and server, including its access token. Throws `SignInRequired` or `ReauthNeeded`
 * if the user must sign in.
 */
export async function prepareCredential(
  parts: SendParts,
  server: AllowedServer,
  inbound: Inbound,
  { budget = createTokenRequestBudget(), bypassesBreaker = false }: PrepareOptions = {},
): Promise<PreparedTarget> {
  if (server.scope === 'app') {
    const bearer = await parts.appTokens.bearerFor(server, budget);
    return bearer ? { server, bearer } : { server };
  }
  // Checked before the gateway reads any value of the user. The bearer checks it again at each use of a token.
  if (server.auth === 'obo' && !(await parts.oboTrust.isTrusted(server))) {
    throw new GatewayError('MCP_OBO_FORBIDDEN');
  }
  const pending = obtainUserCredential(parts, server, inbound, budget);
  // These credentials can need a token request, which continues if the caller aborts.
  const canWait = usesGraph(server.settings) || server.auth === 'oauth';
  const prepared = await (canWait ? rejectOnAbort(pending, inbound.signal) : pending);
  const bearer = getBearer(prepared);
  if (bearer && 'holder' in prepared) {
    // If the circuit breaker is open, request no token. Without a token, open no connection.
    if (!bypassesBreaker) parts.connections.user.checkBreaker(prepared.server, prepared.holder);
    const token = bearer.token();
    if (token instanceof Promise) await rejectOnAbort(token, inbound.signal);
  }
  return prepared;
}

async function obtainUserCredential(
  { credentials, random }: SendParts,
  server: AllowedServer<UserServer>,
  { principal, fields, request, credential }: Inbound,
  budget: TokenRequestBudget,
): Promise<PreparedTarget> {
  const override = { label: credential };
  const obtained = await credentials.obtain(server, principal, fields, budget, override);
  const { target, binding, exclusiveKey, label } = obtained;
  const holder = {
    principal: principalKey(principal),
    target,
    binding,
    ...(server.requestScoped && { requestKey: request ?? random.id() }),
  };
  return { server, holder, exclusiveKey, credential: label };
}

/** Prepares the credential for one request. The signal replaces the caller's if several callers wait for the result. */
export type PrepareTarget = (signal?: Cancellation) => Promise<PreparedTarget>;

/** All preparations share one token request budget. */
export function createPrepareTarget(
  parts: SendParts,
  server: AllowedServer,
  inbound: Inbound,
  options: Omit<PrepareOptions, 'budget'> = {},
): PrepareTarget {
  const budget = createTokenRequestBudget();
  return (signal = inbound.signal) =>
    prepareCredential(parts, server, { ...inbound, signal }, { ...options, budget });
}

/** Whether the caller has a working credential, as far as the gateway can tell without a request to the server. */
export async function hasUsableCredential(
  parts: SendParts,
  name: string,
  inbound: Inbound,
): Promise<boolean> {
  try {
    const server = resolveAllowedServer(parts, inbound, name, 'MCP_SERVER_NOT_FOUND');
    await prepareCredential(parts, server, inbound);
    return true;
  } catch {
    return false;
  }
}

export function getTarget(prepared: PreparedTarget): UpstreamTarget {
  return 'holder' in prepared ? prepared.holder.target : prepared.server.target;
}

/** The source of access tokens for this server, if it uses any. */
export function getBearer(prepared: PreparedTarget): Bearer | undefined {
  if (!('holder' in prepared)) return prepared.bearer;
  return prepared.holder.target.type === 'stdio' ? undefined : prepared.holder.target.bearer;
}

/**
 * Hash of the address or command with all placeholders replaced. A task belongs to the target that started it. Timeouts,
 * headers and tokens are not part of the hash, because they do not change the target.
 */
export function fingerprintTarget(prepared: PreparedTarget): string {
  const target = getTarget(prepared);
  const identity =
    target.type === 'stdio'
      ? [target.type, target.command, target.args, target.cwd ?? null]
      : [target.type, target.url];
  return createHash('sha256').update(JSON.stringify(identity)).digest('base64url').slice(0, 22);
}
