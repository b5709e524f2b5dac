import { createSettings, startBenchGateway } from './gatewayProcess.ts';
import { withBenchRig, type PartOptions } from './rig.ts';
import { launchBenchBrowser } from './web/browser.ts';
import { countRenders } from './web/countRenders.ts';
import { measureFirstLoad } from './web/firstLoad.ts';
import { measureScrolling } from './web/scrolling.ts';

/** The interface in Chromium on a processor four times slower, with a real gateway. */
export async function measureWeb({ progress, environment }: PartOptions): Promise<{
  ratios: Record<string, number>;
  counts: Record<string, number>;
}> {
  return withBenchRig(async ({ processes, upstream }) => {
    const model = await processes.startService('web/model.ts');
    const manyToolsServer = { type: 'streamable-http', url: `http://127.0.0.1:${upstream.port}/legacy/many` };
    const plainServer = { type: 'streamable-http', url: `http://127.0.0.1:${upstream.port}/legacy` };
    const settings = {
      ...createSettings(upstream.port, { many: manyToolsServer, plain: plainServer }),
      endpoints: {
        custom: [
          { name: 'Bench', baseURL: `http://127.0.0.1:${model.port}/v1`, models: { default: ['scripted'] } },
        ],
      },
    };
    const gateway = await startBenchGateway(processes, { environment, settings });
    const browser = await launchBenchBrowser(environment, gateway);
    try {
      const firstLoad = await measureFirstLoad(browser);
      progress(
        `web: composer after ${firstLoad.composer_ready_ms} ms, ${firstLoad.first_load_js_gzip_kb} KB of JavaScript`,
      );
      const scrolling = await measureScrolling(browser);
      progress(
        `web: longest task ${scrolling.scroll_lines_longest_task_ms} ms and ${scrolling.scroll_tools_longest_task_ms} ms`,
      );
      const renderCounts = await countRenders(browser, environment);
      progress(
        `web: ${renderCounts.stream_pieces} pieces of text, ${renderCounts.stream_other_renders} renderings of other messages`,
      );
      return { ratios: {}, counts: { ...firstLoad, ...scrolling, ...renderCounts } };
    } finally {
      await browser.close();
    }
  });
}
