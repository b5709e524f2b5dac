import type { FlowStatusView, FlowTokensView, ImportCredentialRequest } from '@behalf/contracts';
import type { Leases } from '@behalf/kernel';
import type { AllowedServer } from '../../access/allowedServer.ts';
import type { Cache, CredentialRecord, OAuthClientStore } from '../../ports/index.ts';
import type { Principal, UserPrincipal } from '../../principal/principal.ts';
import type { ServerSnapshot } from '../../definitions/definition.ts';
import { type ClientUrls, createDocumentKey } from '../oauth/clientDocument.ts';
import { type ReadKeyFile, createOAuthClients } from '../oauth/clients.ts';
import { type OAuthDiscovery, createOAuthDiscovery } from '../oauth/discovery.ts';
import { createDpop } from '../oauth/dpop.ts';
import { createClientCredentials, createGrantContexts } from '../oauth/grantContext.ts';
import { type IssuerSettings, createIssuerRules } from '../oauth/issuers.ts';
import { type OAuthEgress, createOAuthNetwork } from '../oauth/network.ts';
import { type IdentityIssuers, createOperatorIssuers } from '../oauth/operatorIssuers.ts';
import { createDynamicClients } from '../oauth/registration.ts';
import type { SignInServers, SignInTarget } from '../oauth/signInTarget.ts';
import { type CallbackRequest, finishFlow } from './callback.ts';
import { type OAuthFlowParts, PENDING_STATUSES, endFlow } from './flow.ts';
import { type OpenRequest, bindFlow, confirmFlow, openFlow } from './open.ts';
import { isGrantForServer } from './serverGrants.ts';
import { type StartOptions, startOAuthFlow } from './start.ts';
import { type FlowWaitOptions, readFlowStatus, readFlowTokens } from './status.ts';
import { importCredential } from './storeGrant.ts';

export interface OAuthServicesParts extends Omit<
  OAuthFlowParts,
  'servers' | 'discovery' | 'clients' | 'network' | 'dpop'
> {
  readonly network: OAuthEgress;
  readonly oauthClients: OAuthClientStore;
  readonly servers: SignInServers & {
    /** The servers of all tenants, including the definitions below overrides. */
    all(): readonly ServerSnapshot[];
  };
  readonly leases: Leases;
  readonly identity: IdentityIssuers;
  /** Caches the authorization servers of operator-defined servers. */
  readonly cache: Cache;
  readonly readText: ReadKeyFile;
  /** Timeout of each discovery request. */
  readonly detectionTimeoutMs: number;
  readonly issuerSettings: () => IssuerSettings;
  /** The URLs of the client documents, if they are not below `baseUrl`. */
  readonly clientUrls?: (target: SignInTarget) => ClientUrls;
}

export type OAuthServices = ReturnType<typeof createOAuthServices>;

/** Everything about grants of users at servers except the tokens, which are in the vault. */
export function createOAuthServices(parts: OAuthServicesParts) {
  const { clock, log, issuerSettings, baseUrl, readText, keyring, leases, servers } = parts;
  const network = createOAuthNetwork(parts.network, issuerSettings);
  // The issuer rules need the issuers of operator-defined servers. Reading those does not use the rules.
  const operatorIssuers = createOperatorIssuers({
    servers: () => servers.all().filter(({ source }) => source === 'yaml'),
    readIssuers: (target) => discovery.readIssuers(target),
    identity: parts.identity,
    cache: parts.cache,
    clock,
  });
  const rules = createIssuerRules({ issuerSettings, operatorIssuers, log });
  const discovery: OAuthDiscovery = createOAuthDiscovery({
    ...{ network, clock, log, issuerSettings, rules },
    timeoutMs: parts.detectionTimeoutMs,
  });
  const documentKey = createDocumentKey({ clients: parts.oauthClients, keyring, clock });
  const dynamic = createDynamicClients({
    clients: parts.oauthClients,
    ...{ leases, keyring, clock, log, network, baseUrl },
  });
  const clients = createOAuthClients({
    ...{ baseUrl, readText, dynamic, documentKey, issuerSettings },
    ...(parts.clientUrls && { clientUrls: parts.clientUrls }),
  });
  const contextParts = { servers, network, discovery, clients, rules, issuerSettings };
  const flowParts: OAuthFlowParts = { ...parts, network, discovery, clients, dpop: createDpop(parts) };
  return {
    flows: createOAuthFlows(flowParts),
    /** How the vault refreshes a grant, and how it obtains `client_credentials` tokens. */
    contexts: createGrantContexts(contextParts),
    appGrants: createClientCredentials({ ...contextParts, clock }),
    ...{ discovery, clients, documentKey },
    isGrantForServer: (server: ServerSnapshot, record: CredentialRecord) =>
      isGrantForServer(contextParts, server, record),
    importCredential: (server: AllowedServer, principal: UserPrincipal, request: ImportCredentialRequest) =>
      importCredential(flowParts, server, principal, request),
  };
}

export type OAuthFlows = ReturnType<typeof createOAuthFlows>;

/** Sign-ins of users at servers. */
function createOAuthFlows(parts: OAuthFlowParts) {
  const { flows, clock } = parts;
  const findPending = (serverId: string, { tenant, userId }: Principal) =>
    flows.findPending(tenant, userId, serverId, clock.now());
  return {
    start: (server: AllowedServer, principal: Principal, options?: StartOptions) =>
      startOAuthFlow(parts, server, principal, options),
    open: (request: OpenRequest) => openFlow(parts, request),
    confirm: (request: OpenRequest & { readonly token: string }) => confirmFlow(parts, request),
    bind: ({ id }: Pick<AllowedServer, 'id'>, principal: UserPrincipal) => bindFlow(parts, id, principal),
    finish: (request: CallbackRequest) => finishFlow(parts, request),
    readStatus: (principal: Principal, flowId: string, wait?: FlowWaitOptions): Promise<FlowStatusView> =>
      readFlowStatus(parts, principal, flowId, wait),
    readTokens: (principal: Principal, flowId: string): Promise<FlowTokensView> =>
      readFlowTokens(parts, principal, flowId),
    /** False if no sign-in is pending. A flow whose callback arrived is not cancelled. */
    async cancel({ id }: Pick<AllowedServer, 'id'>, principal: Principal): Promise<boolean> {
      const flow = await findPending(id, principal);
      if (!flow) return false;
      return endFlow(parts, flow, { from: PENDING_STATUSES, status: 'cancelled', error: 'cancelled' });
    },
    isPending: async (serverId: string, principal: Principal): Promise<boolean> =>
      (await findPending(serverId, principal)) !== null,
  };
}
