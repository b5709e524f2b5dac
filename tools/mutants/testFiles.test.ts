import { describe, expect, it } from '@jest/globals';
import { nearestFiles, testFilesById } from './testFiles.ts';

describe('the test files of an id', () => {
  it('are those that hold it', () => {
    const found = testFilesById([
      { path: 'api/src/a.test.ts', text: "verifies('a.b.c', 'x', () => 1);" },
      { path: 'api/src/b.test.ts', text: "verifies('a.b.d', 'x', () => 1);" },
    ]);
    expect(found.get('a.b.c')).toEqual(['api/src/a.test.ts']);
  });

  it('are the callers of the contract suite that holds it, through other suites too', () => {
    const found = testFilesById([
      {
        path: 'packages/testkit/src/suites/leases.ts',
        text: "export function leaseSuite(): void { verifies('lease.one.holder', 'x', () => 1); }",
      },
      {
        path: 'packages/testkit/src/suites/store.ts',
        text: 'export const storeSuite = () => { leaseSuite(); };',
      },
      { path: 'packages/stores/src/redis/leases.test.ts', text: 'leaseSuite(open);' },
      { path: 'packages/stores/src/sqlite/store.test.ts', text: 'storeSuite (open);' },
      { path: 'packages/stores/src/memory/other.test.ts', text: 'otherSuite(open);' },
      { path: 'packages/stores/src/memory/code.ts', text: 'leaseSuite(open);' },
    ]);
    expect(found.get('lease.one.holder')).toEqual([
      'packages/stores/src/redis/leases.test.ts',
      'packages/stores/src/sqlite/store.test.ts',
    ]);
  });

  it('narrows to the files beside the mutated one, where there are any', () => {
    const files = ['packages/stores/src/sqlite/sqlite.test.ts', 'packages/stores/src/redis/redis.test.ts'];
    expect(nearestFiles(files, 'packages/stores/src/redis/leases.ts')).toEqual([files[1]]);
    expect(nearestFiles(files, 'packages/stores/src/keyvCache.ts')).toEqual(files);
  });
});
