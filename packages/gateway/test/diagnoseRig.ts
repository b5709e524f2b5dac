import { sleep } from '@behalf/kernel';
import { aPrincipal } from '@behalf/testkit';
import type { DiscoveredServer } from '../src/credentials/oauth/discovery/discovery.ts';
import type { OAuthClient } from '../src/credentials/oauth/oauthClient.ts';
import type { CredentialSummary } from '../src/credentials/vault/vault.ts';
import { diagnose, type DiagnosisInbound } from '../src/diagnose/diagnose.ts';
import type { DiagnoseParts, NetworkProblem } from '../src/diagnose/parts.ts';
import type { OboCandidate } from '../src/access/oboTargets.ts';
import type { UserPrincipal } from '../src/principal/principal.ts';
import type { ServerSnapshot } from '../src/registry/server.ts';
import type { UpstreamTarget } from '../src/upstream/target.ts';
import type { JsonObject, Upstream } from '../src/upstream/upstream.ts';
import { ada, define, toolcallRig } from './toolcallRig.ts';

export const administrator = aPrincipal({ userId: 'u-root', role: 'ADMIN' });

/** An authorization server that can be used, at another host than the server. */
export const discovered: DiscoveredServer = {
  as: {
    issuer: 'https://as.example',
    hasIssuerName: true,
    authorizationEndpoint: 'https://as.example/authorize',
    tokenEndpoint: 'https://as.example/token',
    registrationEndpoint: 'https://as.example/register',
    revocationEndpoint: null,
    jwksUri: null,
    sendsIssuer: true,
    scopes: null,
    authMethods: null,
    codeChallengeMethods: ['S256'],
    supportsClientDocuments: false,
    dpopAlgorithms: null,
    fetchedAt: 0,
  },
  resource: 'https://mcp.example/mcp',
  requiresConfirmation: false,
  challengedScope: undefined,
  publishedScopes: null,
  usesDpop: false,
};

/** A diagnosis over parts that a test decides about; whatever went out is written down. */
export function diagnoseRig(
  definition: JsonObject = {},
  tools: readonly JsonObject[] = [{ name: 'search' }, { name: 'drop' }],
  whose: Parameters<typeof define>[2] = {},
) {
  const server: ServerSnapshot = define('odd', definition, whose);
  const rig = toolcallRig([server], tools);
  const opened: UpstreamTarget[] = [];
  const more = {
    server,
    /** Targets that were asked without a credential. */
    opened,
    /** How long everything takes that is asked of somebody else. */
    delayMs: 0,
    judged: 0,
    connected: 0,
    verdict: null as NetworkProblem | null,
    socket: null as NetworkProblem | null,
    onOpen: undefined as (() => void | Promise<void>) | undefined,
    flags: {} as Record<string, boolean>,
    values: {} as Record<string, string>,
    summary: undefined as CredentialSummary | undefined,
    discover: async (): Promise<DiscoveredServer> => discovered,
    client: { clientId: '', source: 'dynamic', auth: { method: 'none' } } as OAuthClient,
    manages: 0,
    oboProblem: null as ReturnType<DiagnoseParts['oboTargets']['findProblem']>,
    asked: [] as OboCandidate[],
    logged: [] as string[],
    run: (principal: UserPrincipal = ada, name = 'odd', isOthers = false) => {
      const inbound: DiagnosisInbound = {
        ...rig.inbound({ principal }),
        principal,
        isForOtherUser: isOthers,
      };
      return diagnose(parts, name, inbound);
    },
    async step(step: string, principal: UserPrincipal = ada) {
      return (await whole.run(principal)).steps.find((one) => one.step === step);
    },
  };
  const whole = Object.assign(rig, more);
  const wait = async () => {
    if (whole.delayMs > 0) await sleep(rig.clock, whole.delayMs);
  };
  const conversation: Upstream = { ...rig.upstream, close: async () => undefined };
  const parts: DiagnoseParts = {
    ...rig.parts,
    log: (event) => void whole.logged.push(event),
    getManageBits: () => whole.manages,
    variables: { readSetFlags: async () => whole.flags },
    network: {
      async checkAddress() {
        whole.judged += 1;
        await wait();
        return whole.verdict;
      },
      async connect() {
        whole.connected += 1;
        await wait();
        return whole.socket;
      },
    },
    async open(target) {
      opened.push(target);
      await wait();
      await whole.onOpen?.();
      return conversation;
    },
    oboTargets: {
      findProblem(candidate) {
        whole.asked.push(candidate);
        return whole.oboProblem;
      },
    },
    vault: { ...rig.parts.vault, find: async () => whole.summary ?? null },
    chosen: { select: () => whole.summary },
    signIn: {
      servers: { readHolderValues: async () => ({ userVar: whole.values }) },
      discovery: {
        async discover() {
          await wait();
          return whole.discover();
        },
      },
      clients: {
        async resolveClient() {
          await wait();
          return whole.client;
        },
        clientUrls: () => ({
          redirectUri: 'https://gw.example/cb',
          documentUrl: null,
          publicDocumentUrl: null,
        }),
      },
    },
  };
  return whole;
}

/** What is shown of a sign-in of Ada that works, unless it says otherwise. */
export function aSummary(over: Partial<CredentialSummary> = {}): CredentialSummary {
  return {
    id: 'credential',
    tenant: 'default',
    principal: 'user:u-ada',
    serverId: 'odd',
    kind: 'oauth_code',
    label: 'default',
    isDefault: true,
    status: 'active',
    reason: null,
    statusAt: 0,
    generation: 1,
    issuer: 'https://as.example',
    scopes: 'read write',
    expiresAt: null,
    hasRefreshToken: true,
    fingerprint: 'abcdef01',
    createdAt: 0,
    updatedAt: 0,
    ...over,
  };
}
