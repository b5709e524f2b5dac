// Builds what is stale and nothing else. The check reads file times and no file, and no compiler is even loaded when all
// is fresh: a built start has 2 s for everything.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './lock.mjs';

/**
 * Builds those of these products whose inputs changed, or whose outputs are gone, since the last good build: all at the
 * same time, and under one lock for whoever starts at the same moment. Throws when a build fails.
 *
 * A product has a `name`, a file for its `stamp`, its `inputs()`, what is `missing(outputs)` of its last build, and
 * `build(missing)`, which may give its outputs. Paths are relative to the root.
 */
export async function buildStale(root, products) {
  if (products.every((product) => isFresh(inspectProduct(root, product)))) return;
  mkdirSync(join(root, '.build'), { recursive: true });
  await withLock(join(root, '.build', 'lock'), async () => {
    const built = await Promise.allSettled(products.map((product) => rebuild(root, product)));
    // Only now: what is still being built must not run on without the lock.
    const failed = built.find(({ status }) => status === 'rejected');
    if (failed) throw failed.reason;
  });
}

async function rebuild(root, product) {
  // Another start may have built while this one waited. The survey is taken before building, so a file saved
  // meanwhile makes the next check stale instead of being missed.
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

/** A checkout changes file times without changing a byte; the second look is at the contents. */
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
