import { request } from 'node:http';
import { median, type BenchBrowser } from './browser.ts';

const ROUNDS = 5;

/** Runs in the page: records when the composer first accepts input. */
const recordReadyScript = `
  const look = () => {
    const ready = document.querySelector('main form textarea:not(:disabled)');
    if (ready) document.documentElement.dataset.composerReady = String(performance.now());
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
`;

/** The time from navigation to a usable composer, and the amount of script. */
export async function measureFirstLoad(browser: BenchBrowser): Promise<{
  composer_ready_ms: number;
  composer_ready_worst_ms: number;
  first_load_js_gzip_kb: number;
}> {
  const times: number[] = [];
  const scripts = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const { page } = await browser.openSlowPage();
    page.on('request', (request) => {
      if (request.resourceType() === 'script') scripts.add(request.url());
    });
    await page.addInitScript({ content: recordReadyScript });
    await page.goto(`${browser.origin}/chat`);
    const root = page.locator('html[data-composer-ready]');
    await root.waitFor({ state: 'attached', timeout: 30_000 });
    times.push(Number(await root.getAttribute('data-composer-ready')));
    await page.context().close();
  }
  const sizes = await Promise.all([...scripts].map(gzippedBytes));
  return {
    composer_ready_ms: Math.round(median(times)),
    composer_ready_worst_ms: Math.round(Math.max(...times)),
    first_load_js_gzip_kb: Math.round(sizes.reduce((sum, size) => sum + size, 0) / 102.4) / 10,
  };
}

/** The transferred bytes with gzip. */
function gzippedBytes(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { 'accept-encoding': 'gzip' } }, (response) => {
      if (response.headers['content-encoding'] !== 'gzip') reject(new Error(`${url} is not compressed`));
      let bytes = 0;
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.on('end', () => resolve(bytes));
    })
      .on('error', reject)
      .end();
  });
}
