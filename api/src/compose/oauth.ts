import { readFile } from 'node:fs/promises';
import {
  type Audit,
  type CredentialVault,
  type OAuthServices,
  type OAuthServicesParts,
  type Registry,
  type RetiringServers,
  type ServerDrafts,
  createOAuthServices,
} from '@behalf/gateway';
import { identityAddresses } from '../runtime/configuration.ts';
import { setPeriodic } from '../runtime/lifecycle.ts';
import { createIdentityIssuers } from '../runtime/network.ts';
import type { ComposeContext } from './context.ts';

const SWEEP_MS = 60 * 1000;

/** The metadata URLs of the gateway as OAuth client, where they differ from the defaults. */
export type ClientUrls = OAuthServicesParts['clientUrls'];

interface OAuthParts {
  readonly vault: CredentialVault;
  readonly registry: Pick<Registry, 'get' | 'listAll'>;
  readonly retiring: Pick<RetiringServers, 'get'>;
  readonly drafts: Pick<ServerDrafts, 'get'>;
  readonly audit: Audit;
  readonly readHolderValues: OAuthServicesParts['servers']['readHolderValues'];
  readonly probe: OAuthServicesParts['probe'];
  readonly clientUrls?: ClientUrls;
}

/** Sign-in of users at servers: discovery, clients, flows and the refresh of grants. */
export function composeOAuth(context: ComposeContext, parts: OAuthParts): OAuthServices {
  const { env, configuration, primary, coordination, disposables, clock, egress, address } = context;
  const { registry, retiring, drafts, clientUrls } = parts;
  const { leases, attempts, changes } = coordination;
  disposables.add(setPeriodic(SWEEP_MS, clock, () => primary.oauthFlows.removeExpired(clock.now())));
  return createOAuthServices({
    flows: primary.oauthFlows,
    oauthClients: primary.oauthClients,
    credentials: primary.credentials,
    servers: {
      get: (tenant, id) => registry.get(tenant, id) ?? retiring.get(tenant, id) ?? drafts.get(tenant, id),
      all: () => registry.listAll(),
      readHolderValues: parts.readHolderValues,
    },
    network: egress.oauth,
    ...{ leases, attempts, changes, clock },
    cache: coordination.cache('issuers'),
    identity: createIdentityIssuers({ env, configuration, egress, clock }),
    readText: (file) => readFile(file, 'utf8'),
    durations: { pendingMs: env.MCP_OAUTH_HANDLING_TIMEOUT, retentionMs: env.MCP_OAUTH_FLOW_TTL },
    detectionTimeoutMs: env.MCP_OAUTH_DETECTION_TIMEOUT,
    issuerSettings: configuration.derive((settings) => ({
      issuers: settings.mcpSettings.issuers ?? {},
      identityUrls: [
        ...(env.OPENID_ISSUER === undefined ? [] : [env.OPENID_ISSUER]),
        ...identityAddresses(settings).map(({ url }) => url),
      ],
    })),
    ...{ vault: parts.vault, audit: parts.audit, probe: parts.probe },
    ...{ keyring: context.keyring, random: context.random, log: context.log },
    baseUrl: address.baseUrl,
    ...(clientUrls && { clientUrls }),
  });
}
