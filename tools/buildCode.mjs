// Compiles what a start or an operator command needs, with TypeScript.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const entries = ['api', 'config/scripts'];

/** The code as something that is built, below `root`. */
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

/** The projects reachable from the entries. */
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
 * Takes the types out, file by file, and looks at nothing else: a start does not wait for what `npm run typecheck` says.
 * The settings make that safe: `isolatedModules` allows nothing that needs another file to be compiled.
 */
async function compile(root, missing) {
  const ts = await loadTypeScript();
  // A later `tsc -b` believes its .tsbuildinfo and does not look whether the outputs are still there.
  for (const dir of missing) rmSync(join(root, dir, 'tsconfig.tsbuildinfo'), { force: true });
  const { compilerOptions = {} } = JSON.parse(readFileSync(join(root, 'tsconfig.base.json'), 'utf8'));
  const { options } = ts.convertCompilerOptionsFromJson(
    { ...compilerOptions, ...{ module: 'ESNext', moduleResolution: 'Bundler' } },
    root,
  );
  const diagnosticList = projectsOf(root).flatMap((dir) =>
    sourcesOf(root, dir).flatMap((name) =>
      name.endsWith('.d.ts') ? [] : compileFile(ts, options, root, dir, name),
    ),
  );
  if (diagnosticList.length === 0) return;
  process.stderr.write(
    ts.formatDiagnostics(diagnosticList, {
      getCanonicalFileName: (name) => name,
      getCurrentDirectory: () => root,
      getNewLine: () => '\n',
    }),
  );
  throw new Error('The build failed. See the messages above.');
}

function compileFile(ts, compilerOptions, root, dir, name) {
  const path = join(root, dir, 'src', name);
  const { outputText, sourceMapText, diagnostics } = ts.transpileModule(readFileSync(path, 'utf8'), {
    ...{ compilerOptions, fileName: path, reportDiagnostics: true },
  });
  if (diagnostics.length > 0) return diagnostics;
  const output = join(root, dir, 'dist', name.replace(/\.tsx?$/, '.js'));
  mkdirSync(dirname(output), { recursive: true });
  writeFileSync(output, outputText);
  if (sourceMapText !== undefined) writeFileSync(`${output}.map`, sourceMapText);
  return [];
}

async function loadTypeScript() {
  try {
    return (await import('typescript')).default;
  } catch {
    throw new Error('Cannot build: TypeScript is not installed. Run `npm ci` first.');
  }
}
