import { readFile } from 'node:fs/promises';
import {
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

interface OAuthParts extends Pick<OAuthServicesParts, 'vault' | 'audit' | 'probe'> {
  readonly registry: Pick<Registry, 'get' | 'listAll'>;
  readonly retiring: Pick<RetiringServers, 'get'>;
  readonly drafts: Pick<ServerDrafts, 'get'>;
  readonly readHolderValues: OAuthServicesParts['servers']['readHolderValues'];
  readonly clientUrls: OAuthServicesParts['clientUrls'];
}

/** Sign-in of users at servers: discovery, clients, flows and the refresh of grants. */
export function composeOAuth(context: ComposeContext, parts: OAuthParts): OAuthServices {
  const { env, configuration, primary, coordination, egress, clock } = context;
  const { registry, retiring, drafts, clientUrls } = parts;

  const sweep = () => primary.oauthFlows.removeExpired(clock.now());
  context.disposables.add(setPeriodic(SWEEP_MS, clock, sweep));

  const issuerSettings = configuration.derive((settings) => ({
    issuers: settings.mcpSettings.issuers ?? {},
    identityUrls: [
      ...(env.OPENID_ISSUER === undefined ? [] : [env.OPENID_ISSUER]),
      ...identityAddresses(settings).map(({ url }) => url),
    ],
  }));

  return createOAuthServices({
    vault: parts.vault,
    credentials: primary.credentials,
    flows: primary.oauthFlows,
    oauthClients: primary.oauthClients,
    servers: {
      get: (tenant, id) => registry.get(tenant, id) ?? retiring.get(tenant, id) ?? drafts.get(tenant, id),
      all: () => registry.listAll(),
      readHolderValues: parts.readHolderValues,
    },
    probe: parts.probe,
    audit: parts.audit,
    log: context.log,
    network: egress.oauth,
    identity: createIdentityIssuers({ env, configuration, egress, clock }),
    issuerSettings,
    baseUrl: context.address.baseUrl,
    ...(clientUrls && { clientUrls }),
    readText: (file) => readFile(file, 'utf8'),
    cache: coordination.cache('issuers'),
    leases: coordination.leases,
    attempts: coordination.attempts,
    changes: coordination.changes,
    keyring: context.keyring,
    clock,
    random: context.random,
    durations: { pendingMs: env.MCP_OAUTH_HANDLING_TIMEOUT, retentionMs: env.MCP_OAUTH_FLOW_TTL },
    detectionTimeoutMs: env.MCP_OAUTH_DETECTION_TIMEOUT,
  });
}
