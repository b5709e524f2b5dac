import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cruise, type ICruiseResult, type IForbiddenRuleType } from 'dependency-cruiser';
import type { Confinement, PackageRule } from '../test/architecture.ts';

export interface ImportTable {
  readonly packageRules: readonly PackageRule[];
  readonly confinements: readonly Confinement[];
  /** Folders whose direct subfolders must not depend on each other in a cycle. */
  readonly acyclicFolders: readonly string[];
}

export interface ImportReport {
  /** One line per violation. */
  readonly violations: readonly string[];
  /** The analyzed modules, relative to the root. */
  readonly modules: readonly string[];
}

/** Checks the imports of all modules below `root` with dependency-cruiser. Tests and tools may import anything. */
export async function checkImports(root: string, table: ImportTable): Promise<ImportReport> {
  const { packageRules, confinements, acyclicFolders } = table;
  const forbidden = [
    ...packageRules.flatMap((rule) => toPackageRules(root, rule)),
    ...confinements.map(toConfinementRule),
  ];
  const { output } = await cruise(
    packageRules.map(({ folder }) => folder),
    {
      baseDir: root,
      validate: true,
      ruleSet: { forbidden },
      tsPreCompilationDeps: true,
      exclude: { path: '\\.test\\.tsx?$|/(test|dist|fixtures)/' },
      doNotFollow: { path: 'node_modules' },
    },
    {
      exportsFields: ['exports'],
      conditionNames: ['behalf-source', 'import', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.js', '.mjs'],
    },
  );
  if (typeof output === 'string') throw new Error(`dependency-cruiser returned text: ${output}`);
  const imports = output.summary.violations.map(
    ({ from, to, rule }) => `${from} imports ${to}: ${rule.name}`,
  );
  const cycles = acyclicFolders.flatMap((folder) => findCycles(output, folder));
  return {
    violations: [...imports, ...cycles],
    modules: output.modules.map(({ source }) => source).filter((source) => !source.includes('node_modules/')),
  };
}

/** Denies everything that the rule does not list: other packages, their subpaths, npm packages and Node modules. */
function toPackageRules(root: string, rule: PackageRule): IForbiddenRuleType[] {
  const { folder, ownPackages, npm, node, development = false } = rule;
  const from = { path: `^${escape(folder)}/` };
  const notListed: IForbiddenRuleType = {
    name: `the table does not allow this in ${folder}`,
    severity: 'error',
    from,
    to: {
      pathNot: [
        `^${escape(folder)}/`,
        ...ownPackages.map((specifier) => `^${escape(findEntryFile(root, specifier))}$`),
        ...npm.map(toModulePattern),
      ],
      ...(node === 'all' && { dependencyTypesNot: ['core'] }),
    },
  };
  const leavesFolder: IForbiddenRuleType = {
    name: `it leaves ${folder}`,
    severity: 'error',
    from,
    to: { pathNot: `^${escape(folder)}/`, dependencyTypes: ['local'] },
  };
  const notDeclared: IForbiddenRuleType = {
    name: `${folder}/package.json does not declare it`,
    severity: 'error',
    from,
    to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev'] },
  };
  return development ? [notListed] : [notListed, leavesFolder, notDeclared];
}

function toConfinementRule({ modules, allowedPaths, reason }: Confinement): IForbiddenRuleType {
  return {
    name: reason,
    severity: 'error',
    from: { pathNot: ['node_modules/', ...allowedPaths.map((path) => `^${escape(path)}`)] },
    to: { path: modules.map(toModulePattern) },
  };
}

function toModulePattern(module: string): string {
  if (module.startsWith('packages/')) return `^${escape(module)}`;
  if (module.startsWith('node:')) return `^(node:)?${escape(module.slice('node:'.length))}(/|$)`;
  return `(^|/)node_modules/(@types/)?${escape(module)}${module.endsWith('/') ? '' : '/'}`;
}

/** The source file of a package export such as `@behalf/gateway/ports`, relative to the root. */
function findEntryFile(root: string, specifier: string): string {
  const [, name = '', ...subpath] = specifier.split('/');
  const folder = name === 'api' ? name : `packages/${name}`;
  const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as {
    exports: Record<string, { 'behalf-source': string }>;
  };
  const entry = manifest.exports[['.', ...subpath].join('/')];
  if (!entry) throw new Error(`${specifier} is not exported`);
  return `${folder}/${entry['behalf-source'].slice(2)}`;
}

/**
 * The cycles between the direct subfolders of a folder. Type imports do not count: they do not exist at run time. Files
 * directly in the folder belong to no subfolder.
 */
function findCycles({ modules }: ICruiseResult, folder: string): string[] {
  const subfolderOf = (path: string): string | undefined => {
    if (!path.startsWith(`${folder}/`)) return undefined;
    const [subfolder, ...rest] = path.slice(folder.length + 1).split('/');
    return rest.length > 0 ? subfolder : undefined;
  };
  const edges = new Map<string, Map<string, string>>();
  for (const { source, dependencies } of modules) {
    const from = subfolderOf(source);
    if (from === undefined) continue;
    for (const { resolved, dependencyTypes } of dependencies) {
      const to = subfolderOf(resolved);
      if (to === undefined || to === from || dependencyTypes.includes('type-only')) continue;
      const targets = edges.get(from) ?? new Map<string, string>();
      edges.set(from, targets.set(to, `${source} imports ${resolved}`));
    }
  }
  const reaches = (start: string, target: string, seen = new Set<string>()): boolean =>
    [...(edges.get(start)?.keys() ?? [])].some((next) => {
      if (next === target) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next, target, seen);
    });
  return [...edges].flatMap(([from, targets]) =>
    [...targets]
      .filter(([to]) => reaches(to, from))
      .map(([to, example]) => `${folder}: ${from} and ${to} depend on each other in a cycle (${example})`),
  );
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
