import { sleep } from '@behalf/kernel';
import { aPrincipal } from '@behalf/testkit';
import type { DiscoveredServer } from '../src/credentials/oauth/discovery.ts';
import type { OAuthClient } from '../src/credentials/oauth/clientAuthentication.ts';
import type { CredentialSummary } from '../src/credentials/vault/vault.ts';
import {
  type DiagnoseParts,
  type DiagnosisInbound,
  type NetworkProblem,
  diagnose,
} from '../src/diagnose/diagnose.ts';
import type { OboCandidate } from '../src/access/oboTargets.ts';
import type { UserPrincipal } from '../src/principal/principal.ts';
import type { ServerSnapshot } from '../src/definitions/definition.ts';
import type { UpstreamTarget } from '../src/upstream/target.ts';
import type { JsonObject, Upstream } from '../src/upstream/upstream.ts';
import { adaUser, defineServer, createToolcallRig } from './toolcallRig.ts';

export const administrator = aPrincipal({ userId: 'u-root', role: 'ADMIN' });

/** An authorization server that can be used, at another host than the server. */
export const discoveredServer: DiscoveredServer = {
  asMetadata: {
    issuer: 'https://as.example',
    hasIssuerIdentifier: true,
    authorizationEndpoint: 'https://as.example/authorize',
    tokenEndpoint: 'https://as.example/token',
    registrationEndpoint: 'https://as.example/register',
    revocationEndpoint: null,
    jwksUri: null,
    isIssParameterSupported: true,
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
export function createDiagnoseRig(
  definition: JsonObject = {},
  tools: readonly JsonObject[] = [{ name: 'search' }, { name: 'drop' }],
  serverOptions: Parameters<typeof defineServer>[2] = {},
) {
  const server: ServerSnapshot = defineServer('odd', definition, serverOptions);
  const rig = createToolcallRig([server], tools);
  const openedTargets: UpstreamTarget[] = [];
  const diagnosis = {
    server,
    /** Targets that were asked without a credential. */
    openedTargets,
    /** How long everything takes that is asked of somebody else. */
    delayMs: 0,
    judged: 0,
    connected: 0,
    networkProblem: null as NetworkProblem | null,
    socket: null as NetworkProblem | null,
    onOpen: undefined as (() => void | Promise<void>) | undefined,
    flags: {} as Record<string, boolean>,
    values: {} as Record<string, string>,
    summary: undefined as CredentialSummary | undefined,
    discover: async (): Promise<DiscoveredServer> => discoveredServer,
    client: { clientId: '', source: 'dynamic', auth: { method: 'none' } } as OAuthClient,
    manages: 0,
    oboProblem: null as ReturnType<DiagnoseParts['oboTargets']['findProblem']>,
    exchangeAttempts: [] as OboCandidate[],
    logged: [] as string[],
    run: (principal: UserPrincipal = adaUser, name = 'odd', isOtherUser = false) => {
      const inbound: DiagnosisInbound = {
        ...rig.inbound({ principal }),
        principal,
        isForOtherUser: isOtherUser,
      };
      return diagnose(parts, name, inbound);
    },
    async step(step: string, principal: UserPrincipal = adaUser) {
      return (await extendedRig.run(principal)).steps.find((candidate) => candidate.step === step);
    },
  };
  const extendedRig = Object.assign(rig, diagnosis);
  const delay = async () => {
    if (extendedRig.delayMs > 0) await sleep(rig.clock, extendedRig.delayMs);
  };
  const upstream: Upstream = { ...rig.upstream, close: async () => undefined };
  const parts: DiagnoseParts = {
    ...rig.parts,
    log: (event) => void extendedRig.logged.push(event),
    getManageBits: () => extendedRig.manages,
    variables: { readSetFlags: async () => extendedRig.flags },
    network: {
      async checkAddress() {
        extendedRig.judged += 1;
        await delay();
        return extendedRig.networkProblem;
      },
      async connect() {
        extendedRig.connected += 1;
        await delay();
        return extendedRig.socket;
      },
    },
    async open(target) {
      openedTargets.push(target);
      await delay();
      await extendedRig.onOpen?.();
      return upstream;
    },
    oboTargets: {
      findProblem(candidate) {
        extendedRig.exchangeAttempts.push(candidate);
        return extendedRig.oboProblem;
      },
    },
    vault: { ...rig.parts.vault, find: async () => extendedRig.summary ?? null },
    credentialSelector: { select: () => extendedRig.summary },
    signIn: {
      servers: { readHolderValues: async () => ({ userVar: extendedRig.values }) },
      discovery: {
        async discover() {
          await delay();
          return extendedRig.discover();
        },
      },
      clients: {
        async resolveClient() {
          await delay();
          return extendedRig.client;
        },
        clientUrls: () => ({
          redirectUri: 'https://gw.example/cb',
          documentUrl: null,
          publicDocumentUrl: null,
        }),
      },
    },
  };
  return extendedRig;
}

/** What is shown of a sign-in of Ada that works, unless it says otherwise. */
export function createCredentialSummary(overrides: Partial<CredentialSummary> = {}): CredentialSummary {
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
    ...overrides,
  };
}
