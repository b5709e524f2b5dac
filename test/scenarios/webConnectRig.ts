import type { DevUser } from '@behalf/devidp';
import type { ModelScript } from '@behalf/devidp/sample';
import { systemClock, type Clock } from '@behalf/kernel';
import {
  guardedMcpServer,
  startAuthorizationServer,
  type AuthorizationServer,
  type GuardedMcpServer,
} from '@behalf/testkit';
import type { Page } from 'playwright-core';
import { sendRest } from './webRest.ts';
import { startWebRig, type WebRig } from './webRig.ts';

/** The product with a server at which each user signs in by themselves. */
export interface ConnectRig extends WebRig {
  /** Where they do so. It asks each time, with Allow and Deny. */
  readonly authorization: AuthorizationServer;
  readonly notes: GuardedMcpServer;
  /** How often a browser came to the authorization server to be asked. */
  readonly authorizationCount: () => number;
  /** Lets the time of the gateway go on. */
  readonly advanceClock: (ms: number) => void;
}

/** One for each story, so that nobody finds what another left behind. */
const connectUsers: readonly DevUser[] = [
  'ada',
  'bea',
  'cem',
  'dov',
  'eva',
  'fay',
  'gil',
  'hal',
  'ida',
  'jon',
  'kim',
].map((id) => ({
  id,
  email: `${id}@example.test`,
  name: id,
  roles: [id === 'ada' ? 'ADMIN' : 'USER'],
  groups: ['staff'],
}));

/** More servers of the file, by what they need. */
export interface ExtraServers {
  /** Of `mcpServers`, indented by two. */
  readonly yaml: (authorization: AuthorizationServer) => Promise<{ yaml: string; urls: readonly string[] }>;
}

export async function startConnectRig(
  modelScript: ModelScript = () => [],
  extraServers?: ExtraServers,
): Promise<ConnectRig> {
  const disposables: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const dispose of disposables.splice(0).reverse()) await dispose();
  };
  try {
    const authorization = await startAuthorizationServer({ consent: 'ask' });
    disposables.push(() => authorization.close());
    const notes = await startNotes(authorization);
    disposables.push(() => notes.close());
    const extra = (await extraServers?.yaml(authorization)) ?? { yaml: '', urls: [] };
    let offsetMs = 0;
    const clock: Clock = { ...systemClock, now: () => systemClock.now() + offsetMs };
    const webRig = await startWebRig({
      ...{ modelScript, clock, users: connectUsers },
      servers: createNotesYaml('notes', 'The notes', notes) + extra.yaml,
      addresses: [notes.url, authorization.issuer, ...extra.urls].map((url) => new URL(url).host),
    });
    disposables.push(() => webRig.close());
    return {
      ...webRig,
      ...{ authorization, notes, close },
      authorizationCount: () => authorization.received('authorize').length,
      advanceClock: (ms) => void (offsetMs += ms),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A server with one tool, for whoever has a token of that authorization server. */
export function startNotes(authorizationServer: AuthorizationServer): Promise<GuardedMcpServer> {
  const inputSchema = {
    type: 'object',
    properties: { text: { type: 'string', title: 'Text' } },
    required: ['text'],
  };
  return guardedMcpServer({
    ...{ era: 'legacy', authorizationServer },
    tools: [
      {
        ...{ name: 'note', description: 'Keeps a note', inputSchema },
        handler: ({ text }) => ({ content: [{ type: 'text', text: `kept: ${String(text)}` }] }),
      },
    ],
  });
}

/** Its entry in the file. */
export function createNotesYaml(name: string, title: string, { url }: GuardedMcpServer): string {
  return `  ${name}: { type: streamable-http, title: ${title}, url: '${url}', requiresOAuth: true }\n`;
}

/** Connects a server as whoever is signed in in this window, where the authorization server asks nothing. */
export async function connectOverRest(page: Page, server: string): Promise<void> {
  const { connectUrl } = await sendRest(page, 'POST', `/api/mcp/${server}/oauth/start`, {});
  await page.goto(String(connectUrl));
  await page.getByRole('heading', { name: 'Connected', exact: true }).waitFor();
}

/** Presses what opens the window of a sign-in, and gives that window once the authorization server asks in it. */
export async function openPopup(page: Page, click: () => Promise<unknown>): Promise<Page> {
  const [popup] = await Promise.all([page.waitForEvent('popup'), click()]);
  await popup.getByRole('button', { name: 'Allow' }).waitFor();
  return popup;
}

/** Says yes or no there. */
export async function decideConsent(popup: Page, decision: 'Allow' | 'Deny'): Promise<void> {
  await popup.getByRole('button', { name: decision }).click();
}
