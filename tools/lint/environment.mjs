/** Only the entry points read the environment. testkit runs in tests and is never deployed. */
export const environmentReaders = [
  'api/src/env.ts',
  'config/scripts/src/**',
  'packages/cli/src/main.ts',
  'packages/devidp/src/main.ts',
  'packages/devidp/src/demo/main.ts',
  'packages/testkit/src/**',
  'bench/main.ts',
];

const message = 'Only entry points read the environment. Take the value as a parameter.';

/** Options of the rule `no-restricted-properties`. */
export const restrictedEnvironment = [
  { object: 'process', property: 'env', message },
  { object: 'globalThis', property: 'process', message },
];
