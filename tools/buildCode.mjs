// Compiles the packages that the gateway and the operator commands need, with swc (ADR 35).
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';

const entries = ['api', 'config/scripts'];

/** The compiled code as a product of the build, below `root`. */
export function codeProduct(root) {
  return {
    name: entries.join(' and '),
    stamp: 'stamp.json',
    inputs: () => [
      ...['package-lock.json', 'tsconfig.base.json'],
      ...projectsOf(root).flatMap((dir) => [
        ...[`${dir}/tsconfig.json`, `${dir}/package.json`],
        ...sourcesOf(root, dir).map((name) => `${dir}/src/${name}`),
      ]),
    ],
    missing: () => projectsOf(root).filter((dir) => lacksOutput(root, dir)),
    build: (missing) => compile(root, missing),
  };
}

/** The projects that the entries reference. */
function projectsOf(root) {
  const projects = new Set();
  const visit = (dir) => {
    if (projects.has(dir)) return;
    projects.add(dir);
    const config = JSON.parse(readFileSync(join(root, dir, 'tsconfig.json'), 'utf8'));
    for (const { path } of config.references ?? []) visit(relative(root, resolve(root, dir, path)));
  };
  entries.forEach(visit);
  return [...projects];
}

function sourcesOf(root, dir) {
  const src = join(root, dir, 'src');
  if (!existsSync(src)) return [];
  const names = readdirSync(src, { recursive: true }).sort();
  return names.filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.test.ts'));
}

function lacksOutput(root, dir) {
  return sourcesOf(root, dir)
    .filter((name) => !name.endsWith('.d.ts'))
    .some((name) => !existsSync(join(root, dir, 'dist', name.replace(/\.tsx?$/, '.js'))));
}

/**
 * Removes the types file by file, without checking them: a start does not wait for `npm run typecheck`. The compiler
 * options `isolatedModules` and `erasableSyntaxOnly` guarantee that no file needs another one to be compiled.
 */
async function compile(root, missing) {
  const { transform } = await loadSwc();
  // A later `tsc -b` trusts its .tsbuildinfo and does not check whether the outputs still exist.
  for (const dir of missing) rmSync(join(root, dir, 'tsconfig.tsbuildinfo'), { force: true });
  const files = projectsOf(root).flatMap((dir) => sourcesOf(root, dir).map((name) => ({ dir, name })));
  await Promise.all(
    files
      .filter(({ name }) => !name.endsWith('.d.ts'))
      .map(({ dir, name }) => compileFile(transform, root, dir, name)),
  );
}

async function compileFile(transform, root, dir, name) {
  const path = join(root, dir, 'src', name);
  const output = join(root, dir, 'dist', name.replace(/\.tsx?$/, '.js'));
  const { code, map } = await transform(readFileSync(path, 'utf8'), { ...swcOptions, filename: path }).catch(
    (error) => {
      throw new Error(`The build failed in ${relative(root, path)}.\n${error.message}`);
    },
  );
  mkdirSync(dirname(output), { recursive: true });
  writeFileSync(output, `${code}//# sourceMappingURL=${basename(output)}.map\n`);
  writeFileSync(`${output}.map`, map);
}

/** The output must equal that of `tsc` with tsconfig.base.json. */
const swcOptions = {
  swcrc: false,
  sourceMaps: true,
  module: { type: 'es6' },
  jsc: {
    target: 'es2023',
    parser: { syntax: 'typescript' },
    rewriteRelativeImportExtensions: true,
    transform: { verbatimModuleSyntax: true },
  },
};

async function loadSwc() {
  try {
    return await import('@swc/core');
  } catch {
    throw new Error('Cannot build: the compiler is not installed. Run `npm ci` first.');
  }
}
