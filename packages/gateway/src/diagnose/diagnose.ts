import type { DiagnosisView } from '@behalf/contracts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import type { PreparedTarget } from '../toolcall/obtainCredential.ts';
import type { RemoteTarget } from '../upstream/target.ts';
import { bareTarget, type Target } from './bareTarget.ts';
import { createChecklist, type Checklist, type StepName } from './checklist.ts';
import { lookAtConnection } from './lookAtConnection.ts';
import { lookAtCredential } from './lookAtCredential.ts';
import { lookAtExchange, lookAtTrust, needsExchange } from './lookAtExchange.ts';
import { lookAtAddress, lookAtName, lookAtSocket } from './lookAtNetwork.ts';
import { lookAtPolicy } from './lookAtPolicy.ts';
import { lookAtScopes } from './lookAtScopes.ts';
import { lookAtServer } from './lookAtServer.ts';
import { createSignInLook, signInHolder } from './lookAtSignIn.ts';
import { lookAtVariables } from './lookAtVariables.ts';
import type { Case, DiagnoseParts } from './parts.ts';

export interface DiagnosisInbound extends Inbound {
  readonly principal: UserPrincipal;
  /** Somebody else asks about this user: nothing of theirs goes anywhere, no token, no key and no value. */
  readonly isOthers?: boolean;
}

const NOT_THEIRS = 'Nothing is presented in the name of somebody else.';

const everythingElse: readonly StepName[] = [
  'variables',
  'address',
  'dns',
  'tls',
  'server',
  'metadata',
  'authorization_server',
  'client',
  'credential',
  'scopes',
  'trust',
  'exchange',
  'connection',
  'tools',
];

/**
 * Why a call of this user does or does not work, step by step along the way that a call takes. It begins no sign-in and stores
 * nothing: a refusal that is met here changes no credential. What it says is ours: no text of a server, no token, and an address
 * only to who may see it.
 */
export async function diagnose(
  given: DiagnoseParts,
  serverName: string,
  inbound: DiagnosisInbound,
): Promise<DiagnosisView> {
  const parts = inbound.isOthers ? withoutValues(given) : given;
  const list = createChecklist(parts, serverName, inbound.signal);
  let found: Case | undefined;
  await list.look('policy', async () => {
    const { finding, of } = lookAtPolicy(parts, serverName, inbound);
    found = of;
    return finding;
  });
  if (found) await walk(parts, list, found);
  // Alike for what is forbidden and for what does not exist.
  else list.skip(everythingElse, 'There is no server of this name that you may use.');
  return list.view();
}

/** An address or a header that takes a value of the user is then one that is not known. */
function withoutValues(parts: DiagnoseParts): DiagnoseParts {
  return { ...parts, signIn: { ...parts.signIn, servers: { readHolderValues: async () => ({}) } } };
}

async function walk(parts: DiagnoseParts, list: Checklist, of: Case): Promise<void> {
  let target: Target = 'not_known';
  const variables = await list.look('variables', async () => {
    target = await bareTarget(parts, of);
    return lookAtVariables(parts, of);
  });
  const way = await onTheWay(parts, list, of, target);
  const held = await atHand(parts, list, of, way);
  const missing = variables.outcome === 'failed' ? 'Values of yours are missing.' : undefined;
  await throughTheDoor(parts, list, of, missing ?? way.blocked ?? held.blocked);
}

interface Way {
  /** Why nothing can be asked of the server. */
  readonly blocked?: string | undefined;
  readonly signIn: ReturnType<typeof createSignInLook> | undefined;
}

/** From here to the server, and what it says to nobody in particular. */
async function onTheWay(parts: DiagnoseParts, list: Checklist, of: Case, target: Target): Promise<Way> {
  const network: readonly StepName[] = ['address', 'dns', 'tls', 'server'];
  const signingIn: readonly StepName[] = ['metadata', 'authorization_server', 'client'];
  if (target === 'process' || target === 'not_known') {
    const why =
      target === 'process'
        ? 'The server is a process of this gateway.'
        : 'Its address holds values that are not known here.';
    list.skip([...network, ...signingIn], why);
    return { signIn: undefined };
  }
  const reached = await reach(parts, list, of, target);
  if (reached.blocked !== undefined) {
    list.skip(network.slice(reached.looks), `Not tried: ${lower(reached.blocked)}`);
    list.skip(signingIn, `Not tried: ${lower(reached.blocked)}`);
    return { blocked: reached.blocked, signIn: undefined };
  }
  const { challenge, isOpen } = reached;
  const holder = signInHolder(of, isOpen);
  if (holder === undefined) {
    list.skip(signingIn, 'Nobody signs in at this server.');
    return { signIn: undefined };
  }
  const signIn = createSignInLook(parts, of, holder, challenge);
  const metadata = await list.look('metadata', () => signIn.metadata());
  if (metadata.outcome === 'failed') {
    list.skip(signingIn.slice(1), 'Not tried: where its users sign in is not known.');
    return { signIn };
  }
  const judged = await list.look('authorization_server', async () => signIn.authorizationServer());
  if (judged.outcome === 'failed') list.skip('client', 'Not tried: this authorization server is not used.');
  else await list.look('client', () => signIn.client());
  return { signIn };
}

interface Reached {
  readonly blocked?: string;
  /** How many looks it took. */
  readonly looks: number;
  readonly challenge?: Awaited<ReturnType<typeof lookAtServer>>['challenge'];
  readonly isOpen: boolean;
}

async function reach(
  parts: DiagnoseParts,
  list: Checklist,
  of: Case,
  target: RemoteTarget,
): Promise<Reached> {
  const address = await list.look('address', () => lookAtAddress(parts, of, target));
  if (address.outcome === 'failed') return { blocked: address.message, looks: 1, isOpen: false };
  const name = await list.look('dns', (signal) => lookAtName(parts, of, target, signal));
  if (name.outcome === 'failed') return { blocked: name.message, looks: 2, isOpen: false };
  const socket = await list.look('tls', (signal) => lookAtSocket(parts, of, target, signal));
  if (socket.outcome === 'failed') return { blocked: socket.message, looks: 3, isOpen: false };
  let looked: Awaited<ReturnType<typeof lookAtServer>> | undefined;
  const answer = await list.look('server', async (signal) => {
    looked = await lookAtServer(parts, of, target, signal);
    return looked.finding;
  });
  const { challenge, isOpen = false } = looked ?? {};
  const common = { looks: 4, isOpen, ...(challenge && { challenge }) };
  return answer.outcome === 'failed' ? { ...common, blocked: answer.message } : common;
}

/** What this user would present there. */
async function atHand(
  parts: DiagnoseParts,
  list: Checklist,
  of: Case,
  { signIn }: Way,
): Promise<{ readonly blocked?: string }> {
  let credential: Awaited<ReturnType<typeof lookAtCredential>> | undefined;
  const held = await list.look('credential', async () => {
    credential = await lookAtCredential(parts, of);
    return credential.finding;
  });
  const summary = credential?.summary;
  const discovered = signIn?.found();
  if (summary && discovered) {
    await list.look('scopes', async () => lookAtScopes(summary, discovered));
  } else {
    list.skip(
      'scopes',
      summary ? 'What the server asks for is not known.' : 'There is no sign-in to compare with.',
    );
  }
  return held.outcome === 'failed' ? { blocked: held.message } : {};
}

/** The call itself, up to the list of tools. */
async function throughTheDoor(
  parts: DiagnoseParts,
  list: Checklist,
  of: Case,
  blocked: string | undefined,
): Promise<void> {
  let ready: PreparedTarget | undefined;
  let why = blocked ?? (of.isOthers ? NOT_THEIRS : undefined);
  if (needsExchange(of)) {
    const trust = await list.look('trust', () => lookAtTrust(parts, of));
    if (trust.outcome === 'failed') why ??= trust.message;
    if (why !== undefined) list.skip('exchange', `Not tried: ${lower(why)}`);
    else {
      const exchange = await list.look('exchange', async (signal) => {
        const { finding, ready: prepared } = await lookAtExchange(parts, of, signal);
        ready = prepared;
        return finding;
      });
      if (exchange.outcome === 'failed') why = exchange.message;
    }
  } else list.skip(['trust', 'exchange'], 'No token is exchanged for this server.');
  if (why !== undefined) {
    list.skip(['connection', 'tools'], `Not tried: ${lower(why)}`);
    return;
  }
  let tools: Awaited<ReturnType<typeof lookAtConnection>>['tools'];
  await list.look('connection', async (signal) => {
    const looked = await lookAtConnection(parts, of, ready, signal);
    tools = looked.tools;
    return looked.finding;
  });
  const seen = tools;
  if (seen) await list.look('tools', async () => seen);
  else list.skip('tools', 'There is no list of tools.');
}

function lower(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
