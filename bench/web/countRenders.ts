import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { repositoryRoot } from '../processes.ts';
import type { BenchBrowser } from './browser.ts';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

interface RenderRecord {
  readonly id: string;
  readonly kind: string;
}

/** Counts what is rendered while an answer streams. The page is an instrumented build; the gateway is real. */
export async function countRenders(
  browser: BenchBrowser,
  environment: NodeJS.ProcessEnv,
): Promise<{
  stream_pieces: number;
  stream_part_renders: number;
  /** Renders of the answer's own frame. */
  stream_own_frame_renders: number;
  stream_other_renders: number;
}> {
  const buildFolder = mkdtempSync(join(tmpdir(), 'behalf-web-'));
  try {
    execFileSync(
      process.execPath,
      [
        join(repositoryRoot, 'node_modules/vite/bin/vite.js'),
        'build',
        '--outDir',
        buildFolder,
        '--emptyOutDir',
      ],
      {
        cwd: join(repositoryRoot, 'packages/web'),
        env: { ...environment, BEHALF_COUNT_RENDERS: '1' },
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    );
    const { page } = await browser.openSlowPage();
    await page.route(/\/(chat[^?]*|assets\/[^?]*)$/, (route) => {
      const { pathname } = new URL(route.request().url());
      if (route.request().resourceType() === 'fetch') return route.continue();
      const file = pathname.startsWith('/assets/') ? pathname : '/index.html';
      const body = readFileSync(join(buildFolder, file));
      return route.fulfill({ body, contentType: CONTENT_TYPES[extname(file)] ?? 'application/octet-stream' });
    });
    await page.goto(`${browser.origin}/chat`);
    const composer = page.locator('main form textarea');
    // A conversation with content, so that unnecessary renders are possible.
    for (const text of ['first', 'second', 'third']) {
      await composer.fill(`short ${text}`);
      await composer.press('Enter');
      await page.getByText(`Answer to short ${text}.`, { exact: false }).last().waitFor({ timeout: 30_000 });
      await page.getByRole('button', { name: 'Send' }).waitFor({ timeout: 30_000 });
    }
    await composer.fill('long');
    await composer.press('Enter');
    await page.getByText('piece 20 ', { exact: false }).last().waitFor({ timeout: 30_000 });
    // The answer in progress was added last.
    const answerId = await page.evaluate<string>(
      "globalThis.behalfRenders.findLast(({ kind }) => kind === 'answer').id",
    );
    await page.evaluate('globalThis.behalfRenders = []');
    await page.getByText('piece 190 ', { exact: false }).last().waitFor({ timeout: 60_000 });
    const renders = await page.evaluate<RenderRecord[]>('globalThis.behalfRenders');
    const rendersByPart = new Map<string, number>();
    for (const { id, kind } of renders) {
      const key = `${kind} ${id}`;
      rendersByPart.set(key, (rendersByPart.get(key) ?? 0) + 1);
    }
    const [streamingPart = ['', 0]] = [...rendersByPart].sort(([, a], [, b]) => b - a);
    await page.context().close();
    const ownFrameRenders = rendersByPart.get(`answer ${answerId}`) ?? 0;
    return {
      stream_pieces: 170,
      stream_part_renders: streamingPart[1],
      stream_own_frame_renders: ownFrameRenders,
      stream_other_renders: renders.length - streamingPart[1] - ownFrameRenders,
    };
  } finally {
    rmSync(buildFolder, { recursive: true, force: true });
  }
}
