# shellcheck shell=bash
# The parts of the virtual machine's test bed, made from Debian packages. Sourced by scripts/vm.
#
# <cache>/vm/parts holds afterwards
#   qemu/     QEMU 10.1 or newer, which can plug in a card that another process serves, with its own C library
#   vmlinux   a Debian kernel of the same suite, uncompressed
#   modules/  iommufd and VFIO for that kernel, and `order`, the names in the order of loading
#   busybox   for the guest's init
#
# Debian's kernels are configured without iommufd, so these modules are built here from Debian's kernel source against Debian's
# kernel headers, with the compiler that built the kernel. Nothing is installed: apt works on a configuration of its own, and
# the compiler runs in a changed root, for which a user namespace is enough where the user is not root.

# The suite's backports carry the newest QEMU and kernel that run with each other.
datum_vm_suite=trixie

datum_vm_parts_are_complete() {
  [[ -e $1/complete && $(cat "$1/complete") == "$(datum_vm_recipe)" ]]
}

# Changes with this file: parts of an older recipe are made again.
datum_vm_recipe() {
  sha256sum "${BASH_SOURCE[0]}" | cut -c1-16
}

# datum_vm_fetch <work folder> <target folder> <apt option>... -- <package>...: the packages and all that they depend on.
datum_vm_fetch() {
  local work=$1 target=$2 options=()
  shift 2
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  shift
  rm -rf "$work/cache/archives"
  mkdir -p "$work/cache/archives/partial" "$target"
  apt-get -q -y -c "$work/apt.conf" "${options[@]}" --no-install-recommends --download-only install "$@" || return
  local package
  for package in "$work"/cache/archives/*.deb; do
    dpkg-deb -x "$package" "$target" || return
    rm "$package"
  done
}

# Only what a machine without a screen, disk and network needs.
datum_vm_trim_qemu() {
  local usr=$1/usr
  rm -rf "$usr"/share/{doc,man,locale,icons,zoneinfo,perl*,applications,bash-completion} "$usr"/include "$usr"/sbin
  find "$usr/share/qemu" -mindepth 1 -maxdepth 1 ! -name '*.bin' ! -name 'keymaps' -exec rm -rf {} +
  find "$usr/share/qemu" -name '*openbios*' -delete
}

# datum_vm_source <work folder> <package file> <target folder> <pattern>...: parts of a kernel source package.
datum_vm_source() {
  local package=$1 target=$2 version=$3
  shift 3
  mkdir -p "$target"
  dpkg-deb --fsys-tarfile "$package" | tar -xO "./usr/src/linux-source-$version.tar.xz" |
    tar -xJ --strip-components=1 --wildcards -C "$target" "$@"
}

# Writes the build files of the modules into the folder $1, whose sources come from the kernel source in $2.
datum_vm_lay_out_modules() {
  local modules=$1 source=$2
  mkdir -p "$modules"/{iommufd,vfio/pci,irqbypass,virtio}
  cp "$source"/drivers/iommu/iommufd/*.[ch] "$modules/iommufd/"
  cp "$source"/drivers/iommu/iommu-p*.h "$modules/"
  cp "$source"/drivers/vfio/*.[ch] "$modules/vfio/"
  cp "$source"/drivers/vfio/pci/*.[ch] "$modules/vfio/pci/"
  cp "$source"/virt/lib/irqbypass.c "$modules/irqbypass/"
  cp "$source"/drivers/iommu/{virtio-iommu.c,dma-iommu.h,iommu-p*.h} "$modules/virtio/"
  # iommufd walks spans of an interval tree, which a kernel without iommufd does not contain.
  {
    printf '#include <linux/interval_tree.h>\n#include <linux/export.h>\n'
    sed -n '/^#ifdef CONFIG_INTERVAL_TREE_SPAN_ITER/,/^#endif/p' "$source/lib/interval_tree.c" | grep -v EXPORT_SYMBOL
  } >"$modules/iommufd/span_iter.c"
  # What the configuration would have said; all of VFIO is rebuilt, because struct vfio_device depends on it.
  cat >"$modules/flags.mk" <<'MAKE'
ccflags-y += -DCONFIG_IOMMUFD_MODULE=1 -DCONFIG_IOMMUFD_DRIVER_CORE=1 -DCONFIG_IOMMUFD_DRIVER=1 -DCONFIG_IOMMUFD_NOIOMMU=1
ccflags-y += -DCONFIG_INTERVAL_TREE_SPAN_ITER=1 -DCONFIG_VFIO_DEVICE_CDEV=1 -DCONFIG_VFIO_NOIOMMU=1
MAKE
  printf 'obj-m += irqbypass/ iommufd/ vfio/ virtio/\n' >"$modules/Kbuild"
  printf 'obj-m += irqbypass.o\n' >"$modules/irqbypass/Kbuild"
  printf 'obj-m += virtio-iommu.o\n' >"$modules/virtio/Kbuild"
  # shellcheck disable=SC2016 # make expands these
  {
    printf 'include $(src)/../flags.mk\nobj-m += iommufd.o\niommufd-y :='
    (cd "$modules/iommufd" && printf ' %s' device.o eventq.o hw_pagetable.o io_pagetable.o ioas.o main.o pages.o vfio_compat.o \
      viommu.o driver.o span_iter.o iova_bitmap.o)
    [[ ! -e $modules/iommufd/hwpt_noiommu.c ]] || printf ' hwpt_noiommu.o'
    printf '\n'
  } >"$modules/iommufd/Kbuild"
  # shellcheck disable=SC2016
  printf 'include $(src)/../flags.mk\nobj-m += vfio.o vfio_iommu_type1.o pci/\n%s\n' \
    'vfio-y := vfio_main.o device_cdev.o group.o iommufd.o container.o virqfd.o' >"$modules/vfio/Kbuild"
  # shellcheck disable=SC2016
  {
    printf 'include $(src)/../../flags.mk\nobj-m += vfio-pci-core.o vfio-pci.o\nvfio-pci-y := vfio_pci.o vfio_pci_igd.o\n'
    printf 'vfio-pci-core-y := vfio_pci_core.o vfio_pci_intrs.o vfio_pci_rdwr.o vfio_pci_config.o'
    [[ ! -e $modules/vfio/pci/vfio_pci_dmabuf.c ]] || printf ' vfio_pci_dmabuf.o'
    printf '\n'
  } >"$modules/vfio/pci/Kbuild"
}

# datum_vm_build_modules <root of the compiler> <kernel release>: builds <root>/modules in place.
datum_vm_build_modules() {
  local root=$1 release=$2 folder namespace=(unshare --mount --pid --fork)
  for folder in bin sbin lib lib64; do
    [[ -e $root/$folder ]] || ln -s "usr/$folder" "$root/$folder"
  done
  ln -sf dash "$root/usr/bin/sh"
  ln -sf mawk "$root/usr/bin/awk"
  mkdir -p "$root"/{proc,dev,tmp}
  : >"$root/dev/null"
  ((EUID == 0)) || namespace+=(--user --map-root-user)
  # objtool reads its limits from /proc; make wants /dev/null.
  # shellcheck disable=SC2016
  "${namespace[@]}" bash -c '
    mount -t proc proc "$1/proc" && mount --bind /dev/null "$1/dev/null" &&
      chroot "$1" /bin/make -s -C "/lib/modules/$2/build" M=/modules -j2 modules' build "$root" "$release"
}

# Makes everything in the folder $1 from the mirror $2.
datum_vm_make_parts() {
  local work=$1 mirror=$2 parts=$1/parts release version name
  shift 2
  datum_write_apt_configuration "$work" "$mirror" "$datum_vm_suite $datum_vm_suite-backports"
  sed -i "s/^APT::Default-Release .*/APT::Default-Release \"$datum_vm_suite-backports\";/" "$work/apt.conf"
  apt-get -q -c "$work/apt.conf" -o APT::Update::Error-Mode=any "$@" update || return
  mkdir -p "$parts/modules"

  echo "QEMU"
  datum_vm_fetch "$work" "$parts/qemu" "$@" -- qemu-system-x86 || return
  datum_vm_trim_qemu "$parts/qemu"

  release=$(apt-cache -c "$work/apt.conf" depends linux-image-amd64 | sed -n 's/.*Depends: linux-image-\([0-9].*\)/\1/p' | head -n 1)
  [[ -n $release ]] || { echo "suite $datum_vm_suite-backports names no kernel"; return 1; }
  version=$(cut -d. -f1,2 <<<"$release")
  echo "kernel $release and its source"
  (cd "$work/packages" && apt-get -q -c "$work/apt.conf" "$@" download "linux-binary-$release" "linux-source-$version" busybox-static) || return
  for name in linux-binary busybox-static; do
    dpkg-deb -x "$work"/packages/"$name"*.deb "$work/kernel" || return
  done
  datum_vm_source "$work"/packages/linux-source-*.deb "$work/source" "$version" '*/drivers/iommu/iommufd' '*/drivers/iommu/iommu-p*.h' '*/drivers/iommu/dma-iommu.h' '*/drivers/iommu/virtio-iommu.c' \
    '*/drivers/vfio' '*/lib/interval_tree.c' '*/virt/lib' '*/scripts/extract-vmlinux' || return
  rm -f "$work"/packages/*.deb
  # Uncompressed, the guest starts without a decompressor, which emulation makes slow.
  bash "$work/source/scripts/extract-vmlinux" "$work/kernel/usr/lib/modules/$release/vmlinuz" >"$parts/vmlinux" 2>/dev/null || return
  cp "$work/kernel/usr/bin/busybox" "$parts/busybox"

  echo "the compiler of the kernel"
  datum_vm_fetch "$work" "$work/compiler" "$@" -- "linux-headers-$release" make bash dash coreutils sed grep findutils mawk gcc-14 \
    kmod xz-utils diffutils || return
  datum_vm_lay_out_modules "$work/compiler/modules" "$work/source"
  echo "the modules"
  datum_vm_build_modules "$work/compiler" "$release" || return
  for name in virtio/virtio-iommu irqbypass/irqbypass iommufd/iommufd vfio/vfio vfio/vfio_iommu_type1 vfio/pci/vfio-pci-core vfio/pci/vfio-pci; do
    strip -g -o "$parts/modules/$(basename "$name").ko" "$work/compiler/modules/$name.ko" || return
    printf '%s.ko\n' "$(basename "$name")"
  done >"$parts/modules/order"
  datum_vm_recipe >"$parts/complete"
}

datum_vm_make_parts_from_any_mirror() {
  local work=$1 mirrors mirror
  mapfile -t mirrors < <(datum_system_mirrors)
  ((${#mirrors[@]})) || echo "the system's apt configuration names no mirror"
  for mirror in "${mirrors[@]}"; do
    rm -rf "${work:?}"/*
    datum_vm_make_parts "$work" "$mirror" && return
    rm -rf "${work:?}"/*
    datum_vm_make_parts "$work" "$mirror" -o Acquire::Check-Valid-Until=false && return
  done
  return 1
}

# Makes sure that the parts are in <cache $1>/vm/parts.
datum_fetch_vm_parts() {
  local folder=$1/vm log=$1/log/vm-parts.log work lock
  mkdir -p "$folder" "$1/log"
  # Two that start together make the parts once.
  exec {lock}>"$folder/lock"
  flock "$lock"
  if ! datum_vm_parts_are_complete "$folder/parts"; then
    rm -rf "$folder"/work.*
    work=$(mktemp -d "$folder/work.XXXXXX")
    datum_run_with_progress compact "Making the virtual machine's parts (Debian $datum_vm_suite-backports, about 300 MB to download)" "$log" \
      datum_vm_make_parts_from_any_mirror "$work" || return
    rm -rf "$folder/parts"
    mv -T "$work/parts" "$folder/parts"
    rm -rf "$work"
  fi
  exec {lock}>&-
}
