import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser, type CDPSession, type Page } from 'playwright-core';
import type { BenchGateway } from '../gatewayProcess.ts';

/** Comparable to a mid-range phone or an old laptop under load. */
const CPU_SLOWDOWN = 4;

/** A browser with a signed-in user. */
export interface BenchBrowser {
  readonly origin: string;
  /** Opens a page with a new profile on a slow processor, without cache. The caller closes its context. */
  openSlowPage(): Promise<{ page: Page; devtools: CDPSession }>;
  close(): Promise<void>;
}

export async function launchBenchBrowser(
  environment: NodeJS.ProcessEnv,
  gateway: Pick<BenchGateway, 'port' | 'headers'>,
): Promise<BenchBrowser> {
  const browser = await launchChromium(environment);
  // Cookies are bound to the host name.
  const origin = `http://localhost:${gateway.port}`;
  const [name = '', value = ''] = (gateway.headers['cookie'] ?? '').split('=');
  return {
    origin,
    async openSlowPage() {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
      await context.addCookies([{ name, value, url: origin }]);
      const page = await context.newPage();
      const devtools = await context.newCDPSession(page);
      await devtools.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
      return { page, devtools };
    },
    close: () => browser.close(),
  };
}

function launchChromium(environment: NodeJS.ProcessEnv): Promise<Browser> {
  const folders = (environment['PATH'] ?? '').split(delimiter);
  const executablePath = folders.map((folder) => join(folder, 'chromium')).find((path) => existsSync(path));
  if (executablePath === undefined)
    throw new Error('chromium is not installed; Debian: npm run setup:system');
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  });
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}
