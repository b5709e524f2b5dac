// Builds only what is stale. The check compares file times and loads no compiler: a start with a fresh build must
// take less than 2 s.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './lock.mjs';

/**
 * Builds the products whose inputs changed or whose outputs are missing, in parallel, under one lock against
 * concurrent starts. Throws if a build fails. A product has a `name`, a `stamp` file, its `inputs()`,
 * `missing(outputs)` of the last build, and `build(missing)`, which may return its outputs. Paths are relative to
 * the root.
 */
export async function buildStale(root, products) {
  if (products.every((product) => isFresh(inspectProduct(root, product)))) return;
  mkdirSync(join(root, '.build'), { recursive: true });
  await withLock(join(root, '.build', 'lock'), async () => {
    const built = await Promise.allSettled(products.map((product) => rebuild(root, product)));
    // Wait for all builds first: none may continue without the lock.
    const failed = built.find(({ status }) => status === 'rejected');
    if (failed) throw failed.reason;
  });
}

async function rebuild(root, product) {
  // Another start may have built while this one waited. Inputs are read before the build, so a file saved during
  // the build makes the next check stale.
  const state = inspectProduct(root, product);
  if (isFresh(state)) return;
  const contents = hashContents(root, state.inputs);
  const { contents: previousContents, outputs: previousOutputs } = state.stamp;
  const start = process.hrtime.bigint();
  const isSame = state.missing.length === 0 && previousContents === contents;
  const outputs = isSame ? previousOutputs : await product.build(state.missing);
  writeFileSync(stampFile(root, product), JSON.stringify({ times: state.times, contents, outputs }));
  if (isSame) return;
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  process.stderr.write(`Built ${product.name} in ${seconds.toFixed(1)} s\n`);
}

function inspectProduct(root, product) {
  const stamp = readStamp(root, product);
  const inputs = product.inputs();
  const hash = createHash('sha256');
  for (const input of inputs) {
    const { size, mtimeMs } = statSync(join(root, input));
    hash.update(`${input}\0${size}\0${mtimeMs}\n`);
  }
  return { stamp, inputs, missing: product.missing(stamp.outputs), times: hash.digest('hex') };
}

function isFresh({ stamp, missing, times }) {
  return missing.length === 0 && stamp.times === times;
}

/** A checkout changes file times without changing files, so the contents are compared too. */
function hashContents(root, inputs) {
  const hash = createHash('sha256');
  for (const input of inputs)
    hash
      .update(`${input}\0`)
      .update(readFileSync(join(root, input)))
      .update('\0');
  return hash.digest('hex');
}

function stampFile(root, { stamp }) {
  return join(root, '.build', stamp);
}

function readStamp(root, product) {
  try {
    return JSON.parse(readFileSync(stampFile(root, product), 'utf8'));
  } catch {
    return {};
  }
}
