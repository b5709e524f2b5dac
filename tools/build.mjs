// Builds what a start needs: the code and the interface, each only if it is stale.
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeProduct } from './buildCode.mjs';
import { webProduct } from './buildWeb.mjs';
import { buildStale } from './stale.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/**
 * Builds if a source, a compiler setting or the lock changed since the last successful build. Throws if the build
 * fails.
 */
export async function ensureBuilt() {
  await buildStale(root, [codeProduct(root), webProduct(root)]);
}

/** Builds only the interface, for a gateway that runs from its sources, as in tests. */
export async function ensureWebBuilt() {
  await buildStale(root, [webProduct(root)]);
}

/** Prints a failed build as one line and exits. */
export async function ensureBuiltOrExit() {
  try {
    await ensureBuilt();
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await ensureBuiltOrExit();
