export default {
  testEnvironment: 'node',
  // Workspace packages resolve to their sources, so a test run needs no build.
  testEnvironmentOptions: { customExportConditions: ['behalf-source', 'node', 'node-addons'] },
  roots: ['<rootDir>/packages', '<rootDir>/api', '<rootDir>/config', '<rootDir>/test', '<rootDir>/tools'],
  testMatch: ['**/*.test.ts'],
  // But for the interface, which only a build makes.
  globalSetup: '<rootDir>/tools/testSetup.mjs',
  modulePathIgnorePatterns: ['/dist/', '<rootDir>/.build/'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.ts$': [
      '@swc/jest',
      {
        jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  testTimeout: 20_000,
  // Modules of finished files stay in memory (vm modules): a worker that has grown is replaced, and two halve the time.
  maxWorkers: 2,
  workerIdleMemoryLimit: '1GB',
};
