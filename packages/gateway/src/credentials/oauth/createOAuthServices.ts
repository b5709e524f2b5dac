import type { ImportCredentialRequest } from '@behalf/contracts';
import type { Leases } from '@behalf/kernel';
import type { Cache, CredentialRecord, CredentialStore, OAuthClientStore } from '../../ports/index.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import type { ServerSnapshot } from '../../registry/server.ts';
import type { AllowedServer } from '../../toolcall/checkAccess.ts';
import type { AppGrants } from '../vault/vaultParts.ts';
import { createDpop } from '../dpop/dpop.ts';
import { createClientCredentials } from './clientCredentials.ts';
import { createOAuthDiscovery, type OAuthDiscovery } from './discovery/discovery.ts';
import { createOAuthFlows, type OAuthFlows } from './flows/createOAuthFlows.ts';
import type { OAuthFlowParts } from './flows/flowParts.ts';
import type { GrantContexts } from './grantContext.ts';
import { createGrantContexts } from './grantContexts.ts';
import { importCredential, type ImportedCredential } from './importCredential.ts';
import { isGrantForServer } from './isGrantForServer.ts';
import type { IssuerSettings } from './issuerSettings.ts';
import { createIssuerRules } from './issuerRules.ts';
import { createOAuthNetwork, type OAuthEgress } from './oauthNetwork.ts';
import { createOperatorIssuers, type IdentityIssuers } from './operatorIssuers.ts';
import type { ClientUrls } from './registration/clientUrls.ts';
import { createOAuthClients, type OAuthClients } from './registration/clients.ts';
import type { ReadKeyFile } from './registration/configuredClient.ts';
import { createDocumentKey, type DocumentKey } from './registration/documentKey.ts';
import { createDynamicClients } from './registration/dynamicClients.ts';
import type { SignInServers } from './signInServers.ts';
import type { SignInTarget } from './signInTarget.ts';

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
