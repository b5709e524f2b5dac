import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';
import { environmentReaders, restrictedEnvironment } from './tools/lint/environment.mjs';
import { allowedTerms } from './tools/lint/exceptions.mjs';
import { plainEnglish } from './tools/lint/plainEnglish.mjs';

/** Globals that a gateway module must receive as a parameter. */
const ambient = [
  ['Date', 'Take a Clock.'],
  ['performance', 'Take a Clock.'],
  ['setTimeout', 'Take a Clock and use its timers.'],
  ['setInterval', 'Take a Clock and use its timers.'],
  ['setImmediate', 'Take a Clock and use its timers.'],
  ['fetch', 'Take a Fetch: all network access passes egress.'],
  ['process', 'The environment is read in api/src/env.ts.'],
  ['crypto', 'Take a Random, or use kernel.'],
].map(([name, message]) => ({ name, message }));

/** Comments and test titles are not checked yet. */
const plainEnglishIn = (options) => ({
  'behalf/plain-english': ['error', { comments: false, exceptions: allowedTerms, ...options }],
});

export default tseslint.config(
  { ignores: ['**/dist/**', '.build/**', 'data/**', 'coverage/**', 'reports/**', 'node_modules/**'] },
  ...tseslint.configs.strictTypeChecked.map((c) => ({ ...c, files: ['**/*.ts', '**/*.tsx'] })),
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: {
      parserOptions: {
        project: ['./test/tsconfig.json', './packages/web/tsconfig.test.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
        // See the doc comment of parseUrl.
        { selector: "MemberExpression[property.name='canParse']", message: 'Use parseUrl of contracts.' },
      ],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      // `void (await x)` marks an ignored result.
      '@typescript-eslint/no-meaningless-void-operator': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/unified-signatures': 'off',
      // Methods of ports return promises; in-memory implementations have nothing to await.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    ignores: ['tools/lint/**', 'test/mutants/**'],
    plugins: { behalf: { rules: { 'plain-english': plainEnglish } } },
    rules: plainEnglishIn({ strings: true }),
  },
  {
    files: [
      '**/*.test.ts',
      'test/**/*.ts',
      'packages/*/test/**/*.ts',
      'packages/testkit/**/*.ts',
      'bench/**/*.ts',
    ],
    ignores: ['tools/lint/**', 'test/mutants/**'],
    rules: plainEnglishIn({ strings: false }),
  },
  {
    files: ['packages/**/*.ts', 'packages/**/*.tsx', 'api/**/*.ts', 'config/**/*.ts', 'bench/**/*.ts'],
    ignores: ['**/*.test.ts', '**/test/**', ...environmentReaders],
    rules: { 'no-restricted-properties': ['error', ...restrictedEnvironment] },
  },
  {
    files: ['packages/gateway/src/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-globals': ['error', ...ambient],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'Take a Random.' },
        ...restrictedEnvironment,
      ],
      'no-restricted-imports': [
        'error',
        {
          paths: [
            { name: 'node:timers', message: 'Take a Clock.' },
            { name: 'node:timers/promises', message: 'Take a Clock.' },
            { name: 'node:http', message: 'Take a Fetch.' },
            { name: 'node:https', message: 'Take a Fetch.' },
            { name: 'node:net', message: 'Take a Dial.' },
            { name: 'undici', message: 'Take a Fetch.' },
            { name: 'node:process', message: 'Take settings as parts.' },
            { name: 'process', message: 'Take settings as parts.' },
            {
              name: 'node:crypto',
              importNames: ['randomBytes', 'randomUUID', 'randomInt', 'getRandomValues'],
              message: 'Take a Random.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['packages/web/src/**/*.ts', 'packages/web/src/**/*.tsx'],
    ...reactHooks.configs.flat['recommended-latest'],
  },
  {
    files: ['**/*.test.ts', 'test/**/*.ts', 'packages/*/test/**/*.ts', 'packages/testkit/**/*.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unnecessary-condition': 'off',
    },
  },
);
