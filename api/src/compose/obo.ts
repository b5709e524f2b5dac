import { readFile } from 'node:fs/promises';
import type { Env } from '@behalf/contracts';
import {
  type Registry,
  createBoundKeys,
  createDpop,
  createExchangeAudit,
  createExchangeProviders,
  createExchanger,
  createOboTargets,
  createOboTokens,
  createOboTrust,
  createResourceMetadata,
  createSubjectSource,
} from '@behalf/gateway';
import { readLoginProviderInfo } from '@behalf/settings';
import type { ExchangeStats } from '../routes/ops/counters.ts';
import type { ComposedAccess } from './access.ts';
import type { ComposeContext } from './context.ts';

interface OboParts {
  readonly access: Pick<ComposedAccess, 'audit' | 'roles' | 'sessions' | 'openId'>;
  readonly registry: Pick<Registry, 'findSameRevision'>;
  readonly exchanges: Pick<ExchangeStats, 'count'>;
}

/** Token exchange on behalf of users: trust, targets, subject tokens, providers and the exchanger. */
export async function composeObo(context: ComposeContext, { access, registry, exchanges }: OboParts) {
  const { env, clock, random, keyring, log, configuration, primary, coordination, disposables, egress } =
    context;
  const { audit, roles, sessions, openId } = access;
  const { changes, leases, cache } = coordination;
  const { users } = primary;

  const trust = createOboTrust({
    ...{ users, roles, changes, clock, log, audit },
    authorMaxAgeMs: env.OBO_AUTHOR_MAX_AGE,
  });
  disposables.add(() => trust.close());
  const login = readLoginProviderInfo(context.record);
  const targets = createOboTargets({
    providers: () => configuration.current().identityProviders,
    login: () => login,
    declaredServers: () => configuration.current().servers,
    graphScopes: env.GRAPH_API_SCOPES,
  });
  const subjects = createSubjectSource({
    login: openId?.login ?? null,
    ...{ sessions, users, changes, clock },
  });
  disposables.add(() => subjects.close());
  const providers = configuration.derive(({ identityProviders }) =>
    createExchangeProviders({
      providers: identityProviders,
      login: loginClient(env),
      fetchFor: (options) => egress.identityTo(options),
      readText: (file) => readFile(file, 'utf8'),
      ...{ clock, random, log },
    }),
  );
  await providers().prepare();
  configuration.onChange(() => void providers().prepare());
  const exchangeAudit = createExchangeAudit({ audit, log });
  const exchanger = createExchanger({
    cache: cache('obo'),
    ...{ leases, keyring, clock, random, log },
    record(event) {
      exchanges.count(event.outcome, event.requests);
      exchangeAudit.recordExchange(event);
    },
  });
  disposables.add(() => exchanger.close());
  const tokens = createOboTokens({
    ...{ trust, targets, subjects, exchanger, providers },
    getCurrentServer: (server, tenant) => registry.findSameRevision(tenant, server),
    boundKeys: createBoundKeys({ keyring, dpop: createDpop({ clock, random }) }),
    resourceOf: createResourceMetadata({
      network: egress.oauth,
      clock,
      timeoutMs: env.MCP_OAUTH_DETECTION_TIMEOUT,
    }),
    pendingClaims: openId?.pendingClaims ?? { put: async () => undefined },
    onRefused: (request) => exchangeAudit.recordRefused(request),
  });
  return { tokens, exchanger, targets, trust, subjects };
}

/** The gateway's client at the login provider; null without one. */
function loginClient(env: Env): { issuer: string; clientId: string; clientSecret: string | null } | null {
  const { OPENID_ISSUER: issuer, OPENID_CLIENT_ID: clientId } = env;
  const { OPENID_CLIENT_SECRET: clientSecret = null } = env;
  return issuer === undefined || clientId === undefined ? null : { issuer, clientId, clientSecret };
}
