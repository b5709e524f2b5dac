import { type DiagnosisView, hasAclBit } from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import type { Acl } from '../access/acl.ts';
import { type AllowedServer, checkAccess, resolveServer } from '../access/allowedServer.ts';
import type { OboTargets } from '../access/oboTargets.ts';
import type { CredentialSelector } from '../credentials/credentialSelector.ts';
import type { OAuthClients } from '../credentials/oauth/clients.ts';
import type { OAuthDiscovery } from '../credentials/oauth/discovery.ts';
import type { SignInServers } from '../credentials/oauth/signInTarget.ts';
import type { UserVariables } from '../credentials/variables/userVariables.ts';
import type { CredentialVault } from '../credentials/vault/vault.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../definitions/definition.ts';
import { getViewerRights } from '../servers/view.ts';
import type { SendParts } from '../toolcall/credential.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import type { LoadToolsParts } from '../toolcall/list.ts';
import type { PolicyParts } from '../tools/policy.ts';
import type { OpenUpstream } from '../upstream/openUpstream.ts';
import type { RemoteTarget } from '../upstream/target.ts';
import type { Log } from '../upstream/upstream.ts';
import { checkConnection } from './checkConnection.ts';
import {
  checkCredential,
  checkExchange,
  checkTrust,
  checkVariables,
  requiresExchange,
} from './checkCredential.ts';
import { checkNetwork, resolveUnauthenticatedTarget } from './checkNetwork.ts';
import { checkScopes, checkSignIn } from './checkSignIn.ts';
import { type Checklist, type StepName, type StepResult, createChecklist, failed, ok } from './checklist.ts';

/**
 * Explains why a call of a user does or does not work, step by step in the order of a call.
 *
 * Invariants:
 * - It starts no sign-in and changes no credential: a token that the server rejects is not renewed.
 * - All texts are the gateway's own. They contain no text of a server, no token, and an address only for a caller who may
 *   see it.
 * - A diagnosis for another user sends no token, key or value of that user.
 */
export async function diagnose(
  originalParts: DiagnoseParts,
  serverName: string,
  inbound: DiagnosisInbound,
): Promise<DiagnosisView> {
  const parts = inbound.isForOtherUser ? withoutUserValues(originalParts) : originalParts;
  const checklist = createChecklist(parts, serverName, inbound.signal);
  const policy = await checklist.runStep('policy', () => checkPolicy(parts, serverName, inbound));
  if (policy.value) await runSteps(parts, checklist, policy.value);
  // The same text for a forbidden server and a missing one.
  else checklist.skip(stepsAfterPolicy, 'There is no server with this name that you may use.');
  return checklist.view();
}

const networkSteps: readonly StepName[] = ['address', 'dns', 'tls', 'server'];
const signInSteps: readonly StepName[] = ['metadata', 'authorization_server', 'client'];
const stepsAfterPolicy: readonly StepName[] = [
  'variables',
  ...networkSteps,
  ...signInSteps,
  ...(['credential', 'scopes', 'trust', 'exchange', 'connection', 'tools'] as const),
];

/** Without the user's values, an address or a header that contains one is unknown. */
function withoutUserValues(parts: DiagnoseParts): DiagnoseParts {
  return { ...parts, signIn: { ...parts.signIn, servers: { readHolderValues: async () => ({}) } } };
}

async function runSteps(
  parts: DiagnoseParts,
  checklist: Checklist,
  context: DiagnosisContext,
): Promise<void> {
  const resolved: { target: Awaited<ReturnType<typeof resolveUnauthenticatedTarget>> } = {
    target: 'not_known',
  };
  const variables = await checklist.runStep('variables', async () => {
    // Kept even if the check of the variables fails: the network steps need only the target.
    resolved.target = await resolveUnauthenticatedTarget(parts, context);
    return checkVariables(parts, context);
  });
  const { target } = resolved;
  let networkFailure: string | undefined;
  let discovered: Awaited<ReturnType<typeof checkSignIn>>;
  if (target === 'process' || target === 'not_known') {
    const reason =
      target === 'process'
        ? 'The server runs as a process of this gateway.'
        : 'The server address contains values that are missing or that only a chat request provides.';
    checklist.skip([...networkSteps, ...signInSteps], reason);
  } else {
    const network = await checkNetwork(parts, checklist, context, target);
    networkFailure = network.failure;
    if (network.failure !== undefined) checklist.skipAfter(network.failure, signInSteps);
    else discovered = await checkSignIn(parts, checklist, context, network);
  }

  const credential = await checklist.runStep('credential', () => checkCredential(parts, context));
  const summary = credential.value;
  if (summary && discovered) {
    const signIn = discovered;
    await checklist.runStep('scopes', () => checkScopes(summary, signIn));
  } else {
    const reason = summary
      ? 'The scopes that the server requires are not known.'
      : 'There is no sign-in to compare the scopes with.';
    checklist.skip(['scopes'], reason);
  }

  const variablesFailure = variables.failure === undefined ? undefined : 'Some of your values are missing.';
  await checkCall(parts, checklist, context, variablesFailure ?? networkFailure ?? credential.failure);
}

/** The token exchange, the connection and the tool list. */
async function checkCall(
  parts: DiagnoseParts,
  checklist: Checklist,
  context: DiagnosisContext,
  earlierFailure: string | undefined,
): Promise<void> {
  let failure =
    earlierFailure ??
    (context.isForOtherUser ? 'A diagnosis does not use credentials of other users.' : undefined);
  let prepared: Awaited<ReturnType<typeof checkExchange>>['value'];
  if (requiresExchange(context)) {
    const trust = await checklist.runStep('trust', () => checkTrust(parts, context));
    failure ??= trust.failure;
    if (failure !== undefined) checklist.skipAfter(failure, ['exchange']);
    else {
      const exchange = await checklist.runStep('exchange', (signal) => checkExchange(parts, context, signal));
      failure = exchange.failure;
      prepared = exchange.value;
    }
  } else checklist.skip(['trust', 'exchange'], 'No token is exchanged for this server.');
  if (failure !== undefined) {
    checklist.skipAfter(failure, ['connection', 'tools']);
    return;
  }
  const { value: toolsFinding } = await checklist.runStep('connection', (signal) =>
    checkConnection(parts, context, prepared, signal),
  );
  if (toolsFinding) await checklist.runStep('tools', () => toolsFinding);
  else checklist.skip(['tools'], 'The tool list is not available.');
}

/** Why an address cannot be reached. */
export type NetworkProblem =
  'not_allowed' | 'gateway_address' | 'dns' | 'proxy' | 'certificate' | 'connection' | 'timeout';

/** The checks of the egress guard. They give the same results as for a call. */
export interface DiagnosisNetwork {
  /** Checks the address rules and resolves the host. Null: no problem. */
  checkAddress(server: ServerSnapshot, target: RemoteTarget): Promise<NetworkProblem | null>;
  /** Opens a connection, with the TLS handshake if the URL requires one, and closes it. Null: no problem. */
  connect(target: RemoteTarget, signal: AbortSignal): Promise<NetworkProblem | null>;
}

export interface DiagnosisInbound extends Inbound {
  readonly principal: UserPrincipal;
  /** An administrator diagnoses the access of `principal`. */
  readonly isForOtherUser?: boolean;
}

export interface DiagnoseParts extends SendParts, LoadToolsParts, PolicyParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly getManageBits: Acl['getManageBits'];
  readonly variables: Pick<UserVariables, 'readSetFlags'>;
  readonly network: DiagnosisNetwork;
  /** Opens private connections, without any credential. */
  readonly open: OpenUpstream;
  readonly oboTargets: Pick<OboTargets, 'findProblem'>;
  readonly vault: Pick<CredentialVault, 'find' | 'withExclusiveUse'>;
  readonly credentialSelector: Pick<CredentialSelector, 'select'>;
  readonly signIn: {
    readonly servers: Pick<SignInServers, 'readHolderValues'>;
    readonly discovery: Pick<OAuthDiscovery, 'discover'>;
    readonly clients: Pick<OAuthClients, 'resolveClient' | 'clientUrls'>;
  };
}

/** The subject of a diagnosis, after the access check. */
export interface DiagnosisContext {
  readonly server: AllowedServer;
  readonly principal: UserPrincipal;
  readonly inbound: Inbound;
  readonly isForOtherUser: boolean;
  readonly canSeeAddresses: boolean;
}

/** Checks whether the user may use the server. Only then the result has a context. */
function checkPolicy(
  parts: DiagnoseParts,
  name: string,
  inbound: DiagnosisInbound,
): StepResult<DiagnosisContext> {
  const { principal, isForOtherUser = false } = inbound;
  const resolved = resolveServer(parts.registry, principal, name);
  try {
    const server = checkAccess(parts, principal, resolved, 'MCP_SERVER_NOT_FOUND');
    const { isEditor } = getViewerRights(principal, server, parts.getManageBits(principal, server));
    return {
      finding: ok('Your role may use servers, and this server is shared with you.'),
      value: { server, principal, inbound, isForOtherUser, canSeeAddresses: isEditor },
    };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code } = error;
    if (code === 'MCP_FORBIDDEN') return { finding: failed(code, 'Your role may not use servers.') };
    if (code !== 'MCP_SERVER_NOT_FOUND') throw error;
    // A caller who may manage the server knows that it exists.
    const canManage = resolved !== undefined && hasAclBit(parts.getManageBits(principal, resolved), 'VIEW');
    const [message, action] = canManage
      ? [
          'You can manage this server, but it is not shared with you for use.',
          'Share the server with yourself.',
        ]
      : [
          'There is no server with this name that you may use.',
          'Check the name; if it is right, ask its owner to share it with you.',
        ];
    return { finding: failed(code, message, action) };
  }
}
