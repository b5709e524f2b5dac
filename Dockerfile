# The newest Node line that is in long-term support and that every dependency is tested on. Override to try another:
#   docker build --build-arg NODE_VERSION=22 .
ARG NODE_VERSION=24

FROM node:${NODE_VERSION}-slim AS base
WORKDIR /app

# Manifests alone, so that the layers that install are rebuilt when a dependency changes and not when a source does.
FROM base AS manifests
COPY . .
RUN mkdir /manifests \
  && find . -name package.json -not -path '*/node_modules/*' -exec cp --parents {} /manifests \; \
  && cp package-lock.json .npmrc /manifests

# What the process loads at run time, and nothing of the tests and tools.
FROM base AS dependencies
COPY --from=manifests /manifests ./
RUN npm ci --ignore-scripts --omit=dev --workspace=@behalf/api --workspace=@behalf/scripts

FROM base AS build
COPY --from=manifests /manifests ./
RUN npm ci --ignore-scripts
COPY . .
# Of the interface only what was built goes on: React and Vite are in no layer of the image that runs.
RUN node tools/build.mjs \
  && for part in api config/scripts packages/*; do \
       if [ -d "$part/dist" ]; then mkdir -p "/built/$part" && cp -r "$part/dist" "/built/$part/"; fi; \
     done

FROM base AS runtime
# No package manager at run time: a compromised stdio server cannot fetch its next stage with it. A deployment whose
# servers start through npx installs them in an image of its own, FROM this one.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
    /usr/local/bin/yarn /usr/local/bin/yarnpkg /opt/yarn-* \
  && install -d -o node -g node -m 0700 /data
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3080 \
    CONFIG_PATH=/config/librechat.yaml \
    BEHALF_DATA_DIR=/data
# Owned by root and run by `node`: the process cannot rewrite its own code, on a read-only root file system or not.
COPY --from=dependencies /app ./
COPY --from=build /built ./
USER node
VOLUME /data
EXPOSE 3080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "api/dist/main.js"]
