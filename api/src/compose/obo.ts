import { readFile } from 'node:fs/promises';
import type { Env, EnvRecord } from '@behalf/contracts';
import {
  type Exchanger,
  type Log,
  type OboTargets,
  type OboTokens,
  type OboTrust,
  type Registry,
  type SubjectSource,
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
import type { CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Keyring, Random } from '@behalf/kernel';
import { readLoginProviderInfo } from '@behalf/settings';
import type { ExchangeStats } from '../routes/ops/counters.ts';
import type { Configuration } from '../runtime/configuration.ts';
import type { Disposables } from '../runtime/lifecycle.ts';
import type { ReloadableNetwork } from '../runtime/network.ts';
import type { ComposedAccess } from './access.ts';

interface ComposeOboParts {
  env: Env;
  record: EnvRecord;
  clock: Clock;
  random: Random;
  keyring: Keyring;
  log: Log;
  configuration: Configuration;
  primary: PrimaryStore;
  coordination: CoordinationStore;
  disposables: Disposables;
  egress: Pick<ReloadableNetwork, 'identityTo' | 'oauth'>;
  access: Pick<ComposedAccess, 'audit' | 'roles' | 'sessions' | 'openId'>;
  registry: Pick<Registry, 'find'>;
  exchanges: Pick<ExchangeStats, 'count'>;
}

/** Tokens on behalf of users: who may have them, where they may go, and how they are exchanged. */
interface ComposedObo {
  readonly tokens: OboTokens;
  readonly exchanger: Exchanger;
  readonly targets: OboTargets;
  readonly trust: OboTrust;
  readonly subjects: Pick<SubjectSource, 'checkSubject'>;
}

export async function composeObo(parts: ComposeOboParts): Promise<ComposedObo> {
  const { env, clock, random, keyring, log, configuration, primary, disposables, egress, registry } = parts;
  const { audit, roles, sessions, openId } = parts.access;
  const { changes, leases, cache } = parts.coordination;
  const { users } = primary;

  const trust = createOboTrust({
    ...{ users, roles, changes, clock, log, audit },
    authorMaxAgeMs: env.OBO_AUTHOR_MAX_AGE,
  });
  disposables.add(() => trust.close());
  const login = readLoginProviderInfo(parts.record);
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
  const openProviders = () =>
    createExchangeProviders({
      providers: configuration.current().identityProviders,
      login: loginClient(env),
      fetchFor: (options) => egress.identityTo(options),
      readText: (file) => readFile(file, 'utf8'),
      ...{ clock, random, log },
    });
  let providers = openProviders();
  await providers.prepare();
  configuration.onChange(() => {
    providers = openProviders();
    void providers.prepare();
  });
  const exchangeAudit = createExchangeAudit({ audit, log });
  const exchanger = createExchanger({
    cache: cache('obo'),
    ...{ leases, keyring, clock, random, log },
    record(event) {
      parts.exchanges.count(event.outcome, event.requests);
      exchangeAudit.recordExchange(event);
    },
  });
  disposables.add(() => exchanger.close());
  const tokens = createOboTokens({
    ...{ trust, targets, subjects, exchanger },
    getCurrentServer(server, tenant) {
      const registered = registry.find(tenant, server.name);
      return registered?.id === server.id && registered.revision === server.revision ? registered : undefined;
    },
    providers: () => providers,
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

function loginClient(env: Env): { issuer: string; clientId: string; clientSecret: string | null } | null {
  const {
    OPENID_ISSUER: issuer,
    OPENID_CLIENT_ID: clientId,
    OPENID_CLIENT_SECRET: clientSecret = null,
  } = env;
  return issuer === undefined || clientId === undefined ? null : { issuer, clientId, clientSecret };
}
