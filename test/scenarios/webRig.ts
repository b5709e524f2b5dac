import type { DevUser } from '@behalf/devidp';
import { startScriptedModel, type ModelScript, type ScriptedModel } from '@behalf/devidp/sample';
import type { Clock } from '@behalf/kernel';
import { scriptedHttpServer, type ScriptedHttpServer } from '@behalf/testkit';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium } from './chromium.ts';
import { startOboRig, type OboRig } from './oboRig.ts';
import { createDeskTools, type DeskTools } from './webDesk.ts';

/** The whole product as a person meets it: identity provider, servers, a model, the gateway, and a browser. */
export interface WebRig extends OboRig {
  readonly browser: Browser;
  readonly model: ScriptedModel;
  /** A server that everybody shares, and what its tools have seen. */
  readonly desk: DeskTools & { readonly server: ScriptedHttpServer };
  /** The address under which the browser goes: cookies know hosts. */
  readonly origin: string;
  /** A window of its own for this person, signed in through the provider as people do. */
  openPage(user: string, options?: VisitOptions): Promise<Page>;
}

/** How long a page may take on a machine that has other things to do. */
export const UI_TIMEOUT_MS = 30_000;

export interface VisitOptions extends BrowserContextOptions {
  /** Where they come out after the sign-in. */
  path?: string;
}

export interface WebRigOptions {
  /** How the model answers; absent: no model is configured. */
  modelScript?: ModelScript;
  /** More of `mcpServers`, indented by two. */
  servers?: string;
  /** Addresses of those servers. */
  addresses?: readonly string[];
  variables?: Record<string, string>;
  /** Which of their tools ask first, as the file names them. */
  approvalRules?: readonly string[];
  /** Who has an account at the provider; absent: Ada, who administers, Uma and Gil. */
  users?: readonly DevUser[];
  /** The time of the gateway. */
  clock?: Clock;
}

export async function startWebRig(options: WebRigOptions = {}): Promise<WebRig> {
  const disposables: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const dispose of disposables.splice(0).reverse()) await dispose();
  };
  try {
    const desk = createDeskTools();
    const server = await scriptedHttpServer({ era: 'legacy', tools: desk.tools });
    disposables.push(() => server.close());
    const model = await startScriptedModel({ script: options.modelScript ?? (() => []) });
    disposables.push(() => model.close());
    const oboRig = await startOboRig({
      allowedAddresses: [new URL(server.url).host, ...(options.addresses ?? [])],
      variables: { ...options.variables },
      ...(options.users && { users: options.users }),
      ...(options.clock && { clock: options.clock }),
      yaml: () => renderYaml(server.url, options, model.url),
    });
    disposables.push(() => oboRig.close());
    const browser = await launchChromium();
    disposables.push(() => browser.close());
    const origin = oboRig.url.replace('127.0.0.1', 'localhost');
    return {
      ...oboRig,
      ...{ browser, model, desk: { ...desk, server }, origin, close },
      async openPage(user, { path = '/', ...context } = {}) {
        // The provider's certificate was made a moment ago.
        const browserContext = await browser.newContext({ ignoreHTTPSErrors: true, ...context });
        return signIn(browserContext, origin, user, path);
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function signIn(context: BrowserContext, origin: string, user: string, path: string): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(UI_TIMEOUT_MS);
  await page.goto(origin + path);
  await page.click('text=Sign in with your organization');
  await page.click(`button[name=user][value=${user}]`);
  await page.waitForURL((url) => url.origin === origin && !url.pathname.startsWith('/oauth'));
  return page;
}

function renderYaml(
  desk: string,
  { modelScript, servers = '', approvalRules = [] }: WebRigOptions,
  model: string,
): string {
  const endpoints = modelScript
    ? `
  custom:
    - name: Scripted
      apiKey: key-of-the-model
      baseURL: ${model}
      models: { default: [scripted-large, scripted-small] }`
    : '';
  return `  desk:
    type: streamable-http
    title: Front desk
    description: Small tools for everybody
    url: ${desk}
${servers}
endpoints:${endpoints}
  agents:
    toolApproval: { enabled: true, ask: ${JSON.stringify(['mcp:desk:wipe', ...approvalRules])} }
`;
}
