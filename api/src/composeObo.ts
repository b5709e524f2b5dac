import { readFile } from 'node:fs/promises';
import type { Env, EnvRecord } from '@behalf/contracts';
import {
  createBoundKeys,
  createDpop,
  createExchanger,
  createExchangeProviders,
  createOboTargets,
  createOboTokens,
  createOboTrust,
  createResourceMetadata,
  createExchangeAudit,
  createSubjectSource,
  type Exchanger,
  type Log,
  type OboTargets,
  type OboTokens,
  type OboTrust,
  type Registry,
  type SubjectSource,
} from '@behalf/gateway';
import type { CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Keyring, Random } from '@behalf/kernel';
import { loginFacts } from '@behalf/settings';
import type { Closers } from './closers.ts';
import type { Access } from './composeAccess.ts';
import type { Configuration } from './configuration.ts';
import type { SwappableNetwork } from './network.ts';
import type { ExchangeStats } from './ops/exchangeStats.ts';

export interface ComposeOboParts {
  env: Env;
  record: EnvRecord;
  clock: Clock;
  random: Random;
  keyring: Keyring;
  log: Log;
  configuration: Configuration;
  primary: PrimaryStore;
  coordination: CoordinationStore;
  closers: Closers;
  door: Pick<SwappableNetwork, 'identityTo' | 'oauth'>;
  access: Pick<Access, 'audit' | 'roles' | 'sessions' | 'openId'>;
  registry: Pick<Registry, 'find'>;
  exchanges: Pick<ExchangeStats, 'count'>;
}

/** Tokens on behalf of users: who may have them, where they may go, and how they are exchanged. */
export interface Obo {
  readonly tokens: OboTokens;
  readonly exchanger: Exchanger;
  readonly targets: OboTargets;
  readonly trust: OboTrust;
  readonly subjects: Pick<SubjectSource, 'checkSubject'>;
}

export async function composeObo(parts: ComposeOboParts): Promise<Obo> {
  const { env, clock, random, keyring, log, configuration, primary, closers, door, registry } = parts;
  const { audit, roles, sessions, openId } = parts.access;
  const { changes, leases, cache } = parts.coordination;
  const { users } = primary;

  const trust = createOboTrust({
    ...{ users, roles, changes, clock, log, audit },
    authorMaxAgeMs: env.OBO_AUTHOR_MAX_AGE,
  });
  closers.add(() => trust.close());
  const login = loginFacts(parts.record);
  const targets = createOboTargets({
    providers: () => configuration.current().identityProviders,
    login: () => login,
    declared: () => configuration.current().servers,
    graphScopes: env.GRAPH_API_SCOPES,
  });
  const subjects = createSubjectSource({
    login: openId?.login ?? null,
    ...{ sessions, users, changes, clock },
  });
  closers.add(() => subjects.close());
  const openProviders = () =>
    createExchangeProviders({
      providers: configuration.current().identityProviders,
      login: loginClient(env),
      fetchFor: (options) => door.identityTo(options),
      readText: (file) => readFile(file, 'utf8'),
      ...{ clock, random, log },
    });
  let providers = openProviders();
  await providers.prepare();
  configuration.onChange(() => {
    providers = openProviders();
    void providers.prepare();
  });
  const books = createExchangeAudit({ audit, log });
  const exchanger = createExchanger({
    cache: cache('obo'),
    ...{ leases, keyring, clock, random, log },
    record(event) {
      parts.exchanges.count(event.outcome, event.requests);
      books.recordExchange(event);
    },
  });
  closers.add(() => exchanger.close());
  const tokens = createOboTokens({
    ...{ trust, targets, subjects, exchanger },
    getCurrentServer(server, tenant) {
      const found = registry.find(tenant, server.name);
      return found?.id === server.id && found.revision === server.revision ? found : undefined;
    },
    providers: () => providers,
    boundKeys: createBoundKeys({ keyring, dpop: createDpop({ clock, random }) }),
    resourceOf: createResourceMetadata({
      network: door.oauth,
      clock,
      timeoutMs: env.MCP_OAUTH_DETECTION_TIMEOUT,
    }),
    pendingClaims: openId?.pendingClaims ?? { put: async () => undefined },
    onRefused: (wish) => books.recordRefused(wish),
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
