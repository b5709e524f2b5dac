import { describe, expect, test } from '@jest/globals';
import { Histogram, Registry } from 'prom-client';
import { createCallStats } from './metrics.ts';

describe('counted calls', () => {
  test('the histogram is written as the library writes its own', async () => {
    const ours = new Registry();
    const observe = createCallStats(ours);
    const theirs = new Registry();
    const histogram = new Histogram({
      name: 'behalf_upstream_request_seconds',
      help: 'Time from receiving a request to its response.',
      labelNames: ['server', 'door'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
      registers: [theirs],
    });
    for (const seconds of [0, 0.005, 0.0051, 0.5, 0.75, 60, 61, 3]) {
      observe({ tenant: 'acme', server: 'a "quoted"\\name', door: 'rest', outcome: 'ok', seconds });
      histogram.observe({ server: 'a "quoted"\\name', door: 'rest' }, seconds);
    }
    const lines = (text: string) => text.split('\n').filter((line) => line.includes('request_seconds'));
    const normal = (text: string) =>
      lines(text)
        .map((line) => line.replace(/\{(.*)\}/, sortLabels))
        .sort();
    expect(normal(await ours.metrics())).toEqual(normal(await theirs.metrics()));
    expect(await ours.metrics()).toContain('outcome="ok"} 8');
  });
});

function sortLabels(_whole: string, labels: string): string {
  return `{${labels.split(',').sort().join(',')}}`;
}
