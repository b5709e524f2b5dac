import type { FlowStatusView, FlowTokensView, ImportCredentialRequest } from '@behalf/contracts';
import type { Leases } from '@behalf/kernel';
import type { AllowedServer } from '../../access/allowedServer.ts';
import type { Cache, CredentialRecord, CredentialStore, OAuthClientStore } from '../../ports/index.ts';
import type { Principal, UserPrincipal } from '../../principal/principal.ts';
import type { ServerSnapshot } from '../../servers/definition.ts';
import { type ClientUrls, type DocumentKey, createDocumentKey } from '../oauth/clientDocument.ts';
import { type OAuthClients, type ReadKeyFile, createOAuthClients } from '../oauth/clients.ts';
import { type OAuthDiscovery, createOAuthDiscovery } from '../oauth/discovery.ts';
import { createDpop } from '../oauth/dpop.ts';
import { type GrantContexts, createClientCredentials, createGrantContexts } from '../oauth/grantContext.ts';
import { type IssuerSettings, createIssuerRules } from '../oauth/issuers.ts';
import { type OAuthEgress, createOAuthNetwork } from '../oauth/network.ts';
import { type IdentityIssuers, createOperatorIssuers } from '../oauth/operatorIssuers.ts';
import { createDynamicClients } from '../oauth/registration.ts';
import type { SignInServers, SignInTarget } from '../oauth/signInTarget.ts';
import type { AppGrants } from '../vault/vault.ts';
import { type CallbackRequest, type CallbackResult, finishFlow } from './callback.ts';
import { type OAuthFlowParts, endFlow } from './flow.ts';
import { type OpenFlowResult, type OpenRequest, bindFlow, confirmFlow, openFlow } from './open.ts';
import { isGrantForServer } from './serverGrants.ts';
import { type StartOptions, type StartedFlow, startOAuthFlow } from './start.ts';
import { type FlowWaitOptions, readFlowStatus, readFlowTokens } from './status.ts';
import { type ImportedCredential, importCredential } from './storeGrant.ts';

export interface OAuthServicesParts extends Omit<
  OAuthFlowParts,
  'servers' | 'discovery' | 'clients' | 'credentials' | 'network' | 'dpop'
> {
  readonly network: OAuthEgress;
  readonly credentials: Pick<CredentialStore, 'find' | 'list'>;
  readonly oauthClients: OAuthClientStore;
  readonly servers: SignInServers & {
    /** Of all tenants, with the bases that overrides stand before. */
    all(): readonly ServerSnapshot[];
  };
  readonly leases: Leases;
  readonly identity: IdentityIssuers;
  /** For what operators' servers said of their authorization servers. */
  readonly cache: Cache;
  readonly readText: ReadKeyFile;
  /** For one answer while it is found out where users of a server sign in. */
  readonly detectionTimeoutMs: number;
  readonly issuerSettings: () => IssuerSettings;
  /** Where our documents stand, when that is not below `base`. */
  readonly clientUrls?: (target: SignInTarget) => ClientUrls;
}

/** Everything about users' own grants at servers but the tokens themselves, which are the vault's. */
export interface OAuthServices {
  readonly flows: OAuthFlows;
  /** For the vault: how a grant is renewed, and how one of our own is got. */
  readonly contexts: GrantContexts;
  readonly appGrants: AppGrants;
  readonly discovery: OAuthDiscovery;
  readonly clients: OAuthClients;
  readonly documentKey: DocumentKey;
  /** Whether this grant could have been given for this server, as both are now. Asks the server where its users sign in. */
  isGrantForServer(server: ServerSnapshot, record: CredentialRecord): Promise<boolean>;
  importCredential(
    server: AllowedServer,
    principal: UserPrincipal,
    request: ImportCredentialRequest,
  ): Promise<ImportedCredential>;
}

export function createOAuthServices(parts: OAuthServicesParts): OAuthServices {
  const { clock, log, issuerSettings, baseUrl, readText, keyring, leases, servers } = parts;
  const network = createOAuthNetwork(parts.network, issuerSettings);
  // The rules ask what the operator's servers say of themselves, and reading that asks the rules nothing.
  const operatorIssuers = createOperatorIssuers({
    servers: () => servers.all().filter(({ source }) => source === 'yaml'),
    readIssuers: (target) => discovery.readIssuers(target),
    identity: parts.identity,
    cache: parts.cache,
    clock,
  });
  const rules = createIssuerRules({ issuerSettings, operatorIssuers, log });
  const discovery = createOAuthDiscovery({
    network,
    clock,
    log,
    issuerSettings,
    rules,
    timeoutMs: parts.detectionTimeoutMs,
  });
  const documentKey = createDocumentKey({ clients: parts.oauthClients, keyring, clock });
  const dynamic = createDynamicClients({
    clients: parts.oauthClients,
    ...{ leases, keyring, clock, log, network, baseUrl },
  });
  const clients = createOAuthClients({
    ...{ baseUrl, readText, dynamic, documentKey },
    ...(parts.clientUrls && { clientUrls: parts.clientUrls }),
  });
  const contextParts = { servers, network, discovery, clients, rules, issuerSettings };
  const importParts = { ...parts, network, discovery, clients };
  return {
    flows: createOAuthFlows({ ...parts, network, discovery, clients, dpop: createDpop(parts) }),
    contexts: createGrantContexts(contextParts),
    appGrants: createClientCredentials({ ...contextParts, clock }),
    ...{ discovery, clients, documentKey },
    isGrantForServer: (server, record) => isGrantForServer(contextParts, server, record),
    importCredential: (server, principal, request) =>
      importCredential(importParts, server, principal, request),
  };
}

/** Sign-ins of users at servers. */
export interface OAuthFlows {
  start(server: AllowedServer, principal: Principal, options?: StartOptions): Promise<StartedFlow>;
  /** The connect page of a flow. */
  open(request: OpenRequest): Promise<OpenFlowResult>;
  confirm(
    request: OpenRequest & { readonly token: string },
  ): Promise<Extract<OpenFlowResult, { kind: 'leave' }>>;
  /** Makes this browser the one that the pending flow belongs to. */
  bind(
    server: AllowedServer,
    principal: UserPrincipal,
  ): Promise<{ readonly flowId: string; readonly browserSecret: string; readonly expiresAt: number }>;
  finish(request: CallbackRequest): Promise<CallbackResult>;
  readStatus(principal: Principal, flowId: string, wait?: FlowWaitOptions): Promise<FlowStatusView>;
  readTokens(principal: Principal, flowId: string): Promise<FlowTokensView>;
  /** Whether there was one. What has reached the authorization server and come back is not stopped any more. */
  cancel(server: AllowedServer, principal: Principal): Promise<boolean>;
  /** Whether one of this user at this server is under way. */
  isPending(serverId: string, principal: Principal): Promise<boolean>;
}

function createOAuthFlows(parts: OAuthFlowParts): OAuthFlows {
  const { flows, clock } = parts;
  const findPending = (serverId: string, { tenant, userId }: Principal) =>
    flows.findPending(tenant, userId, serverId, clock.now());
  return {
    start: (server, principal, options) => startOAuthFlow(parts, server, principal, options),
    open: (request) => openFlow(parts, request),
    confirm: (request) => confirmFlow(parts, request),
    bind: ({ id }, principal) => bindFlow(parts, id, principal),
    finish: (request) => finishFlow(parts, request),
    readStatus: (principal, flowId, wait) => readFlowStatus(parts, principal, flowId, wait),
    readTokens: (principal, flowId) => readFlowTokens(parts, principal, flowId),
    async cancel({ id }, principal) {
      const flow = await findPending(id, principal);
      if (!flow) return false;
      return endFlow(parts, flow, { from: ['created', 'opened'], status: 'cancelled', error: 'cancelled' });
    },
    isPending: async (serverId, principal) => (await findPending(serverId, principal)) !== null,
  };
}
