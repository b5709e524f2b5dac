import { settingsFor, startGateway } from './gatewayProcess.ts';
import { onStage, type PartOptions } from './stage.ts';
import { launchBrowser } from './web/browser.ts';
import { countRenders } from './web/countRenders.ts';
import { measureFirstLoad } from './web/firstLoad.ts';
import { measureScrolling } from './web/scrolling.ts';

/** How the interface feels on a machine four times slower: in Chromium, against a real gateway. */
export async function measureWeb({ progress, environment }: PartOptions): Promise<{
  ratios: Record<string, number>;
  counts: Record<string, number>;
}> {
  return onStage(async ({ processes, upstream }) => {
    const model = await processes.service('web/model.ts');
    const many = { type: 'streamable-http', url: `http://127.0.0.1:${upstream.port}/legacy/many` };
    const plain = { type: 'streamable-http', url: `http://127.0.0.1:${upstream.port}/legacy` };
    const settings = {
      ...settingsFor(upstream.port, { many, plain }),
      endpoints: {
        custom: [
          { name: 'Bench', baseURL: `http://127.0.0.1:${model.port}/v1`, models: { default: ['scripted'] } },
        ],
      },
    };
    const gateway = await startGateway(processes, { environment, settings });
    const browser = await launchBrowser(environment, gateway);
    try {
      const first = await measureFirstLoad(browser);
      progress(
        `web: composer after ${first.composer_ready_ms} ms, ${first.first_load_js_gzip_kb} KB of JavaScript`,
      );
      const scrolling = await measureScrolling(browser);
      progress(
        `web: longest task ${scrolling.scroll_lines_longest_task_ms} ms and ${scrolling.scroll_tools_longest_task_ms} ms`,
      );
      const renders = await countRenders(browser, environment);
      progress(
        `web: ${renders.stream_pieces} pieces of text, ${renders.stream_other_renders} renderings of other messages`,
      );
      return { ratios: {}, counts: { ...first, ...scrolling, ...renders } };
    } finally {
      await browser.close();
    }
  });
}
